/** A machine with nothing but Node, git and a shell, and a service that is killed in the middle of its first minutes. */
import { symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serveCommand } from '../../../test/support/command.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { program, programsCalled } from '../../../test/support/programs.ts'
import { argumentsOf } from '../../../test/support/settings.ts'
import { until } from '../../../test/support/wait.ts'

const MINUTES = 60_000

function barePath(): string {
  const folder = temporaryFolder()
  for (const name of ['git', 'rm', 'chmod', 'sh']) symlinkSync(program(name), join(folder, name))
  return folder
}

const dataIn = (folder: string) => ({
  'svc.port': 0,
  'inference.runtime': 'practice',
  'storage.agent_record_dir': join(folder, 'records'),
  'storage.artifact_repository': join(folder, 'artifacts.git'),
})

const besideIn = (folder: string) => ({
  'recipes.practice.evolution.proposals_dir': join(folder, 'proposals'),
  'recipes.practice.evolution.step_record_dir': join(folder, 'steps'),
})

async function start(args: readonly string[], folder: string, path: string) {
  const started = await serveCommand(args, { PATH: path, HOME: folder })
  onTestFinished(() => started.command.signal('SIGKILL'))
  return started
}

const greet = (folder: string, path: string) =>
  start(['--welcome', ...argumentsOf({ ...dataIn(folder), ...besideIn(folder) })], folder, path)

async function stored(address: string, type: 'report' | 'inference'): Promise<readonly string[]> {
  const answer = await fetch(`${address}/svc/scenarios/practice/records?limit=100&request_type=${type}`)
  expect([200, 404]).toContain(answer.status)
  return [...(await answer.text()).matchAll(/"agent_record_id":"([^"]+)"/g)].map(([, id = '']) => id)
}

test('without bubblewrap a scenario of one’s own is served and recorded, the status says what to install, and nothing is played', async () => {
  const [folder, path] = [temporaryFolder(), barePath()]
  const own = { recipe: 'harness', 'evolution.proposals_dir': join(folder, 'proposals'), 'evolution.step_record_dir': null }
  const { command, address } = await start(argumentsOf({ ...dataIn(folder), ...own }), folder, path)
  const body = JSON.stringify({ model: 'practice', messages: [{ role: 'user', content: 'Write 1400 as a Roman numeral.' }] })
  const headers = { 'x-svc-scenario': 'practice' }
  const answer = await fetch(`${address}/v1/chat/completions`, { method: 'POST', headers, body })
  const report = { agent_record_id: 'r', score: 0, feedback: 'wrong', references: [answer.headers.get('x-svc-agent-record-id')] }
  await fetch(`${address}/svc/report`, { method: 'POST', headers, body: JSON.stringify(report) })
  const status = async () => (await fetch(`${address}/svc/status`)).text()
  await until(async () => (await status()).includes('no episode runs here: bubblewrap is not installed'))
  expect(await stored(address, 'report')).toEqual(['r'])
  command.signal('SIGTERM')
  expect(await command.ended).toMatchObject({ code: 0 })
})

test(
  'without bubblewrap the demo improves; interrupted it continues, nothing is reported twice, and after it has learnt it is not run again',
  async () => {
    const [folder, path] = [temporaryFolder(), barePath()]
    expect(programsCalled('bwrap').map(dirname)).not.toContain(path)

    const first = await greet(folder, path)
    await until(async () => (await stored(first.address, 'report')).length > 0)
    first.command.signal('SIGKILL')
    await first.command.ended

    const second = await greet(folder, path)
    await second.command.said('Served as v')
    expect(second.command.out).toContain('the first step takes half a minute')
    expect(second.command.out).toMatch(/before {2}0 of 3 Roman numerals right\n.*after {3}3 of 3/)
    const reports = await stored(second.address, 'report')
    expect(reports[0]).toBe('welcome-1-1')
    expect(new Set(reports).size).toBe(reports.length)
    const exchanges = await stored(second.address, 'inference')
    second.command.signal('SIGTERM')
    expect(await second.command.ended).toMatchObject({ code: 0 })

    const third = await greet(folder, path)
    await third.command.said('Try it')
    expect(third.command.out).toContain('a small agent that has improved')
    expect(third.command.out).not.toContain('takes half a minute')
    expect(await stored(third.address, 'inference')).toEqual(exchanges)
    expect(await stored(third.address, 'report')).toEqual(reports)
    third.command.signal('SIGTERM')
    expect(await third.command.ended).toMatchObject({ code: 0, out: expect.not.stringContaining('Served as') })

    // Without the recipe the scenario is not loaded, and its open reports cause no call.
    const plain = await start(argumentsOf(dataIn(folder)), folder, path)
    const status = async () => (await fetch(`${plain.address}/svc/status`)).text()
    await until(async () => (await status()).includes('"preload_errors":{"practice"'))
    const body = JSON.stringify({ model: 'practice', messages: [{ role: 'user', content: 'Hello' }] })
    const headers = { 'x-svc-scenario': 'mine' }
    expect(await fetch(`${plain.address}/v1/chat/completions`, { method: 'POST', headers, body })).toMatchObject({ status: 200 })
  },
  10 * MINUTES,
)
