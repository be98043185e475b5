/** The install script as people run it, fetched with curl and piped into each shell: what it leaves on a machine, the first time and later. */
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isObject, TOKEN_PREFIX, type Entry } from '../../src/contract/index.ts'
import { programsCalled } from '../support/programs.ts'
import { expectWhole, jsonAt, sharedInstallWorld, ownInstallWorld, RELEASE_FILE, TOKEN } from './install-world.ts'
import { filesHolding, permissionsAt, SHELLS_TRIED, stateOf } from './machine.ts'

const seed: readonly Entry[] = [
  { id: 'brief', name: 'skill', config: { name: 'brief', text: 'Say it in one line.' } },
  { id: 'plan', name: 'agent_command', config: { name: 'plan', text: 'Plan first.' } },
]

const world = sharedInstallWorld({ seed })

describe.each(SHELLS_TRIED)('under %s', (shell) => {
  it('a fresh machine has the tree, the record and the command afterwards, and nothing anywhere else [harness.install-record]', async () => {
    const { machine, scenario } = await world.fresh(`fresh ${shell}`)
    const { code, out, err } = await scenario.install(machine, shell)
    expect({ code, err }).toMatchObject({ code: 0 })
    await expectWhole(scenario, machine)
    const { files, release_id } = await scenario.svc.manifest()
    const folder = machine.installFolder()
    expect(jsonAt(join(folder, 'record.json'))).toMatchObject({
      url: world.here.address.replace('localhost', '127.0.0.1'),
      files: Object.fromEntries(Object.entries(files).map(([path, text]) => [path, createHash('sha256').update(text).digest('hex')])),
      prefix: machine.prefix,
    })
    expect(readlinkSync(join(machine.home, '.local/bin/svc-pi'))).toBe(join(folder, 'svc-pi'))
    expect(['record.json', 'token'].map((name) => permissionsAt(join(folder, name)))).toEqual(['600', '600'])
    expect(permissionsAt(join(machine.destination, 'pi-agent/models.json'))).toBe('600')
    expect(out).toContain(`installed release ${release_id}`)
    expect(err).toContain(`export PATH=${machine.home}/.local/bin:"$PATH"`)
    const top = machine.made().filter((name) => !/^(?:harness|prefix|home\/\.svc|home\/\.local)(?:\/|$)/.test(name))
    expect(top).toEqual([])
  })

  it('the token of a machine is the one that SVC_TOKEN holds when the script runs, kept where no other user reads it [harness.install-token]', async () => {
    const { machine, scenario } = await world.fresh(`token ${shell}`)
    const script = (await scenario.script()).bytes
    const args = [...shell.split(' '), '-s', '--', machine.destination, machine.prefix]
    const without = await machine.run(args, { input: script })
    expect(without).toMatchObject({ code: 0 })
    expect(without.err).toContain('SVC_TOKEN is not set')
    expect(existsSync(join(machine.installFolder(), 'token'))).toBe(false)
    expect(modelKey(machine.destination)).toBe('svc-no-token')
    const { token } = await scenario.svc.createToken({
      name: `given-${shell.replace(' ', '-')}`,
      role: 'agent',
      scenarios: [scenario.name],
    })
    expect(await machine.run(args, { input: script, env: { SVC_TOKEN: token } })).toMatchObject({ code: 0 })
    expect(modelKey(machine.destination)).toBe(token)
    expect(readFileSync(join(machine.installFolder(), 'token'), 'utf8')).toBe(`${token}\n`)
    for (const wrong of ['another-token', 'a"b$(id)']) {
      const { code, out, err } = await machine.run(args, { input: script, env: { SVC_TOKEN: wrong } })
      expect({ code, out, err }).toEqual({
        code: 1,
        out: '',
        err: expect.stringMatching(/^svc: the service answered 401: [^\n]*SVC_TOKEN[^\n]*\n$/),
      })
      expect(filesHolding(machine, wrong)).toEqual([])
    }
    expect(modelKey(machine.destination)).toBe(token)
  })

  it('run again, it finds the release current and touches nothing', async () => {
    const { machine, scenario } = await world.installed(`again ${shell}`, shell)
    const places = [machine.destination, machine.prefix, machine.home]
    const before = places.map(stateOf)
    const { code, out } = await scenario.install(machine, shell)
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('is already current') })
    expect(places.map(stateOf)).toEqual(before)
    expect(machine.npmCalls()).toHaveLength(1)
  })

  it('what left the tree leaves the folder, and what is the person’s own stays', async () => {
    const { machine, scenario } = await world.fresh(`leave ${shell}`)
    const { release_id: first } = await scenario.svc.manifest()
    await scenario.order('Be brief.')
    await scenario.install(machine, shell)
    const rules = join(machine.destination, 'pi-agent/AGENTS.md')
    expect(readFileSync(rules, 'utf8')).toBe('Be brief.\n')
    mkdirSync(join(machine.destination, 'pi-agent/mine'))
    for (const own of ['notes.md', 'pi-agent/mine/own.md']) writeFileSync(join(machine.destination, own), 'mine\n')
    await scenario.svc.rollback(first)
    expect(await scenario.install(machine, shell)).toMatchObject({ code: 0 })
    await expectWhole(scenario, machine)
    expect(existsSync(rules)).toBe(false)
    for (const own of ['notes.md', 'pi-agent/mine/own.md']) expect(readFileSync(join(machine.destination, own), 'utf8')).toBe('mine\n')
  })

  it('npm that fails is shown, and the same line completes the install once it does not', async () => {
    const { machine, scenario } = await world.fresh(`npm ${shell}`)
    writeFileSync(join(machine.root, 'npm-fails'), '')
    const failed = await scenario.install(machine, shell)
    expect(failed.code).toBe(1)
    expect(failed.err).toContain('npm error code ENETUNREACH')
    expect(failed.err).toMatch(/^svc: npm could not install pi .*; see above, check the network and run the same command again$/m)
    expect(existsSync(join(machine.destination, RELEASE_FILE))).toBe(false)
    rmSync(join(machine.root, 'npm-fails'))
    expect(await scenario.install(machine, shell)).toMatchObject({ code: 0 })
    await expectWhole(scenario, machine)
  })

  it('two at once end in one good install', async () => {
    const { machine, scenario } = await world.fresh(`twice ${shell}`)
    const both = await Promise.all([scenario.install(machine, shell), scenario.install(machine, shell)])
    expect(both).toMatchObject([{ code: 0 }, { code: 0 }])
    expect(machine.npmCalls()).toHaveLength(1)
    await expectWhole(scenario, machine)
  })
})

it('without arguments the harness goes to ./svc-harness and the agent below the home, and the agent’s calls reach the service', async () => {
  const { machine, scenario } = await world.fresh('defaults')
  expect(await scenario.install(machine, 'dash', { args: [] })).toMatchObject({ code: 0 })
  expect(existsSync(join(machine.root, 'work/svc-harness', RELEASE_FILE))).toBe(true)
  expect(existsSync(join(machine.home, '.local/share/svc-harness/pi/node_modules/.bin/pi'))).toBe(true)
  expect(await machine.command(['hello'])).toMatchObject({ code: 0, out: 'hello\n' })
  const reported = await machine.command(['report', '--score', '1'])
  expect(reported).toMatchObject({ code: 0, out: expect.stringContaining('score 1 reported for 1 receipt') })
})

it('the output holds no token', async () => {
  const { machine, scenario } = await world.fresh('quiet')
  const { out, err } = await scenario.install(machine, 'bash')
  expect(`${out}${err}`).not.toContain(TOKEN)
  expect(`${out}${err}`).not.toContain(TOKEN_PREFIX)
})

const oldest = programsCalled('node').find((path) => execFileSync(path, ['--version'], { encoding: 'utf8' }).startsWith('v20.'))
describe.skipIf(oldest === undefined)('on Node 20', () => {
  const node = oldest ?? ''

  it('an agent that runs there is installed, and its commands work', async () => {
    const codex = await ownInstallWorld({ adapter: 'codex', seed })
    const { machine, scenario } = await codex.fresh('old', node)
    expect(await scenario.install(machine, 'dash')).toMatchObject({ code: 0 })
    await expectWhole(scenario, machine)
    expect(await scenario.install(machine, 'dash')).toMatchObject({ code: 0, out: expect.stringContaining('is already current') })
    const { code, out } = await machine.command(['doctor', '--json'], { adapter: 'codex' })
    const findings: { findings: { name: string; ok: boolean; text: string }[] } = JSON.parse(out)
    expect({ code, bad: findings.findings.filter(({ ok, name }) => !ok && name !== 'tool') }).toMatchObject({ bad: [] })
    expect(findings.findings[0]?.text).toMatch(/^20\./)
  })

  it('an agent that needs a newer one is refused in one line, and nothing is written', async () => {
    const { machine, scenario } = await world.fresh('too old', node)
    const { code, err } = await scenario.install(machine, 'dash')
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^svc: pi \S+ needs Node 22\.19 or newer and this is 20\.[^\n]*\n$/),
    })
    expect(machine.made()).toEqual([])
  })
})

function modelKey(destination: string): unknown {
  const { providers } = jsonAt(join(destination, 'pi-agent/models.json'))
  const provider = isObject(providers) ? providers['svc'] : null
  return isObject(provider) ? provider['apiKey'] : null
}
