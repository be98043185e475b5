/** The commands of an installed harness against the real service, and against one that refuses or is gone. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectWhole, sharedInstallWorld, ownInstallWorld, TOKEN } from './install-world.ts'
import { type Machine } from './machine.ts'
import { until } from '../support/wait.ts'

const world = sharedInstallWorld()

describe('a request for a change', () => {
  it('is filed by the harness command, waited for, and installed by update [train.commands]', async () => {
    const { machine, scenario } = await world.installed('asked')
    const filed = await machine.command(['harness', 'Be', 'brief.', '--wait', '--json'], { env: { SVC_TOKEN: TOKEN } })
    const { state, release_id, agent_record_id } = JSON.parse(filed.out)
    expect({ code: filed.code, state }).toEqual({ code: 0, state: 'published' })
    const [, row] = await scenario.svc.catalog()
    expect(row).toMatchObject({ release_id, training_request: { id: agent_record_id, text: 'Be brief.' } })
    expect(await machine.command(['update'])).toMatchObject({ code: 0 })
    await expectWhole(scenario, machine, release_id)
    expect(await machine.command(['update'])).toMatchObject({ code: 0, out: `release ${release_id} is already current\n` })
  })

  it('out of a running session goes through that session, and carries its id [train.commands]', async () => {
    const { machine, scenario } = await world.installed('asked inside')
    const env = { SVC_TOKEN: undefined }
    const { code, out } = await machine.command(['hello', '/harness Be kind.'], { env })
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/^hello\nrequest \S+ is filed\n/) })
    const listed = await machine.command(['report', '--list', '--json'])
    const { sessions } = JSON.parse(listed.out)
    const [, id = ''] = /request (\S+) is filed/.exec(out) ?? []
    await until(async () => (await scenario.svc.progress(id)).settled)
    const row = (await scenario.svc.catalog()).find(({ training_request }) => Object(training_request).id === id)
    expect(row?.training_request).toMatchObject({ text: 'Be kind.', session: sessions[0].session })
  })
})

describe('with a token that the service does not know', () => {
  it.each([
    ['update', ['update']],
    ['setup', ['setup']],
    ['harness', ['harness', 'Be brief.']],
    ['report', ['report', '--score', '1']],
    ['page', ['page', 'v0']],
  ])('%s says so in one line that names the cure', async (_name, args) => {
    const machine = await withSession(`wrong token ${args[0] ?? ''}`)
    const { code, out, err } = await machine.command(args, { env: { SVC_TOKEN: 'wrong-token' } })
    expect({ code, out, err }).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^svc-pi: the service answered 401: [^\n]*\(set SVC_TOKEN to the service's token\)\n$/),
    })
    expect(err).not.toContain('wrong-token')
    expect(await machine.command(['report', '--score', '1'])).toMatchObject({ code: 0 })
  })

  it('doctor finds that and nothing else wrong', async () => {
    const machine = await withSession('wrong token doctor')
    const { code, out } = await machine.command(['doctor'], { env: { SVC_TOKEN: 'wrong-token' } })
    const bad = out.split('\n').filter((line) => line.startsWith('!!') && !line.includes('tool'))
    expect({ code, bad }).toEqual({
      code: 1,
      bad: [expect.stringMatching(/^!! {2}service {3}the service answered 401: .*\(set SVC_TOKEN/)],
    })
  })
})

it('when the service is gone, each command says so in one line with its address, and unsent reports wait', async () => {
  const gone = await ownInstallWorld()
  const { machine, scenario } = await gone.installed('gone')
  await machine.command(['hello'])
  await gone.here.close()
  const address = gone.here.address.replace('localhost', '127.0.0.1')
  for (const args of [['update'], ['setup'], ['harness', 'Be brief.'], ['report', '--score', '1'], ['page', 'v0']])
    expect(await machine.command(args), args[0]).toEqual({
      code: 1,
      out: '',
      err: `svc-pi: the service cannot be reached (ECONNREFUSED): is it running at ${address}?\n`,
    })
  const { code, out } = await machine.command(['doctor'])
  expect(code).toBe(1)
  expect(out).toContain('!!  service   the service cannot be reached (ECONNREFUSED)')
  expect(await machine.command(['report', '--list'])).toMatchObject({ code: 0, out: expect.stringContaining('1 receipt, 1 to report') })
  const line = await scenario.install(machine, 'dash')
  expect(line).toMatchObject({ out: '', err: expect.stringMatching(/^curl: \(7\) /) })
  expect(machine.npmCalls()).toHaveLength(1)
})

it('when the record is gone, the command says how to get it back', async () => {
  const machine = await withSession('no record')
  rmSync(join(machine.installFolder(), 'record.json'))
  expect(await machine.command(['report'])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^svc-pi: [^\n]*run the install script of the service again\n$/),
  })
})

/** A machine with one session to report. */
async function withSession(name: string): Promise<Machine> {
  const { machine } = await world.installed(name)
  expect(await machine.command(['hello'], { env: { SVC_TOKEN: TOKEN } })).toMatchObject({ code: 0 })
  return machine
}
