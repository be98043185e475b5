/** Several installs on one machine: none takes over another, the command finds the one that is meant, and each goes without a trace. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bearer, scenarioNames } from '../spec/support/helpers.ts'
import { until } from '../support/wait.ts'
import { jsonAt, sharedInstallWorld, TOKEN } from './install-world.ts'
import { makeMachine, namesBelow, type Ended, type Machine } from './machine.ts'

const world = sharedInstallWorld()
const other = sharedInstallWorld({ adapter: 'codex' })

const made = async (): Promise<readonly string[]> =>
  (await scenarioNames(world.here, bearer(TOKEN))).filter((name) => name.startsWith('harness-'))

describe('without a scenario', () => {
  it('the line makes one when it runs, and run again in that folder goes on with it, also after a failure and twice at once [harness.install-3]', async () => {
    const machine = makeMachine()
    const before = await made()
    mkdirSync(join(machine.root, 'a b'))
    writeFileSync(join(machine.root, 'npm-fails'), '')
    expect(await world.installHere(machine, 'dash', { folder: 'a b' })).toMatchObject({ code: 1 })
    rmSync(join(machine.root, 'npm-fails'))
    const line = (): Promise<Ended> => world.installHere(machine, 'dash', { folder: 'a b' })
    const both = await Promise.all([line(), line()])
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    expect(both.map(({ out }) => out.replace(/ [0-9a-f]{40}[^]*/, '')).toSorted()).toEqual(['installed release', 'release'])
    const [scenario = '', ...more] = (await made()).filter((name) => !before.includes(name))
    expect(more).toEqual([])
    expect(scenario).toMatch(/^harness-[0-9a-f]{32}$/)
    expect(recordOf(machine, 'a b/svc-harness')).toMatchObject({ scenario, adapter: 'pi' })
    expect(await machine.command(['hello'])).toMatchObject({ code: 0, out: 'hello\n' })
  })

  it('another folder under another home has one of its own, and commands that can be typed where the path has a space', async () => {
    const machine = makeMachine()
    const before = (await made()).length
    mkdirSync(join(machine.root, 'the home'))
    const env = { HOME: join(machine.root, 'the home') }
    const { code, out, err } = await world.installHere(machine, 'dash', { env })
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`run:     '${env.HOME}/.local/bin/svc-pi'\n`) })
    expect(err).toContain(`export PATH='${env.HOME}/.local/bin':"$PATH"\n`)
    expect(await made()).toHaveLength(before + 1)
  })

  it('where the service asks for a token that is not set, one line says so and no scenario is made', async () => {
    const machine = makeMachine()
    const before = (await made()).length
    const { bytes } = await world.here.get('/svc/harness/install?adapter=pi', bearer(TOKEN))
    const { code, err } = await machine.run(['dash'], { input: bytes })
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^svc: the service answered 401: [^\n]*SVC_TOKEN[^\n]*\n$/) })
    expect((await made()).length).toBe(before)
  })
})

describe('with two installs of one agent', () => {
  it('the command is for the nearest folder, says which it takes, and elsewhere asks for a name', async () => {
    const machine = makeMachine()
    const names = ['near-one', 'near-two'] as const
    await twoProjects(machine, names)
    for (const [folder, name] of [
      ['one', names[0]],
      ['two/deep/er', names[1]],
      ['two/svc-harness', names[1]],
    ] as const) {
      const { code, err } = await machine.command(['report', '--list'], { folder })
      expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(new RegExp(`^svc-pi: scenario ${name} at http://[^\n]*\n$`)) })
    }
    const { code, err } = await machine.command(['report', '--list'])
    expect(code).toBe(1)
    for (const name of names) expect(err).toContain(`\n  scenario ${name} at `)
    const named = await machine.command(['--scenario', names[0], 'hello'])
    expect(named).toMatchObject({ code: 0, out: 'hello\n', err: expect.stringContaining(`scenario ${names[0]} at`) })
    expect(await machine.command([`--scenario=${names[0]}`, 'report', '--score', '1'])).toMatchObject({ code: 0 })
    expect(await machine.command(['--scenario', 'none', 'hello'])).toMatchObject({ code: 1, err: expect.stringContaining('"none"') })
    expect(await machine.command(['--scenario'])).toMatchObject({ code: 2 })
    // Inside a session the commands are that session's, wherever it runs.
    const env = { SVC_HARNESS_ROOT: join(machine.root, 'two/svc-harness') }
    expect((await machine.command(['report', '--list'], { folder: 'one', env })).err).toContain(`scenario ${names[1]} at`)
  })

  it('one is neither reported nor removed out of the other’s folder, though both are of one scenario', async () => {
    const machine = makeMachine()
    await twoProjects(machine, ['shared', 'shared'])
    await machine.command(['hello'], { folder: 'one' })
    const elsewhere = await machine.command(['report', '--score', '1'], { folder: 'two' })
    expect(elsewhere).toMatchObject({ code: 1, err: expect.stringContaining('there is nothing to report') })
    expect(await machine.command(['uninstall', '--yes'], { folder: 'two' })).toMatchObject({ code: 0 })
    expect(existsSync(join(machine.root, 'two/svc-harness'))).toBe(false)
    // The other is the only one by now, with its program, its receipts and its command.
    const again = await machine.command(['uninstall', '--yes'], { folder: 'two' })
    expect(again).toMatchObject({
      code: 1,
      err: expect.stringMatching(/one\/svc-harness.*: svc-pi --scenario 'shared' uninstall --yes\n$/),
    })
    expect(await machine.command(['report', '--score', '1'])).toMatchObject({ code: 0, out: expect.stringContaining('1 receipt'), err: '' })
    expect(await machine.command(['--scenario', 'shared', 'uninstall', '--yes'])).toMatchObject({ code: 0 })
    expect(machine.made()).toEqual(['one', 'two', 'two/deep', 'two/deep/er'])
  })
})

describe('in one folder', () => {
  it('two agents, and two scenarios at once, lie side by side and all work; a folder that was named is not taken over', async () => {
    const machine = makeMachine()
    const [pi, second, codex] = [await world.scenario('beside'), await world.scenario('beside 2'), await other.scenario('beside')]
    const both = await Promise.all([pi, second].map((each) => each.install(machine, 'dash', { args: [] })))
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    expect(await codex.install(machine, 'dash', { args: [] })).toMatchObject({ code: 0 })
    const places = ['svc-harness', 'svc-harness-pi'].map((place) => recordOf(machine, `work/${place}`))
    expect(places.map(({ scenario, adapter }) => `${String(scenario)} ${String(adapter)}`).toSorted()).toEqual(['beside 2 pi', 'beside pi'])
    expect(recordOf(machine, 'work/svc-harness-codex')).toMatchObject({ scenario: 'beside', adapter: 'codex' })
    expect(await second.install(machine, 'dash', { args: [] })).toMatchObject({
      out: expect.stringMatching(/is already current\n.*--scenario 'beside 2'/),
    })
    for (const scenario of ['beside', 'beside 2'])
      expect(await machine.command(['--scenario', scenario, 'hello'])).toMatchObject({ code: 0, out: 'hello\n' })
    expect(await machine.command(['report', '--list'], { adapter: 'codex' })).toMatchObject({ code: 0, err: '' })

    const held = recordOf(machine, 'work/svc-harness')
    const wants = held['scenario'] === 'beside' ? second : pi
    const { code, err } = await wants.install(machine, 'dash', { args: [join(machine.root, 'work/svc-harness')] })
    const refusal = new RegExp(`^svc: \\S+ holds the harness of scenario "${String(held['scenario'])}" at [^\n]*\n$`)
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(refusal) })
    expect(recordOf(machine, 'work/svc-harness')).toEqual(held)
  })
})

describe('uninstall', () => {
  it('asks first, is refused while a session runs, and leaves no trace on the machine', async () => {
    const { machine } = await world.installed('leaves')
    await machine.command(['hello'])
    expect(await machine.command(['uninstall'])).toMatchObject({ code: 1, err: expect.stringContaining('--yes') })
    const runs = join(machine.installFolder(), 'runs')
    const running = machine.start([join(machine.home, '.local/bin/svc-pi'), '--wait'])
    await until(() => namesBelow(runs).some((name) => name.endsWith('.json')))
    const { code, err } = await machine.command(['uninstall', '--yes'])
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^svc-pi: svc-pi runs with this harness \(process \d+\); end it /),
    })
    running.kill()
    await running.ended
    expect(await machine.command(['uninstall', '--yes'], { env: { SVC_TOKEN: TOKEN } })).toMatchObject({ code: 0, err: '' })
    expect(machine.made()).toEqual([])
    expect(await scenarioNames(world.here, bearer(TOKEN))).toContain('leaves')
  })

  it('keeps what a person changed or made, and names what it keeps', async () => {
    const { machine, scenario } = await world.fresh('keeps')
    await scenario.order('Be brief.')
    await scenario.install(machine, 'dash')
    const rules = join(machine.destination, 'pi-agent/AGENTS.md')
    writeFileSync(rules, 'mine\n')
    writeFileSync(join(machine.destination, 'notes.md'), 'mine\n')
    const { code, err } = await machine.command(['uninstall', '--yes'], { env: { SVC_TOKEN: TOKEN } })
    expect({ code, err }).toEqual({ code: 0, err: `${rules} was changed, and stays\n` })
    expect(namesBelow(machine.destination)).toEqual(['notes.md', 'pi-agent', 'pi-agent/AGENTS.md'])
    expect(readFileSync(rules, 'utf8')).toBe('mine\n')
  })
})

/** Two folders with a harness each, the program shared. */
async function twoProjects(machine: Machine, [first, second]: readonly [string, string]): Promise<void> {
  mkdirSync(join(machine.root, 'one'))
  mkdirSync(join(machine.root, 'two/deep/er'), { recursive: true })
  const one = await world.scenario(first)
  const two = second === first ? one : await world.scenario(second)
  const both = [one.install(machine, 'dash', { folder: 'one', args: [] }), two.install(machine, 'dash', { folder: 'two', args: [] })]
  expect((await Promise.all(both)).map(({ code }) => code)).toEqual([0, 0])
}

function recordOf(machine: Machine, place: string): Readonly<Record<string, unknown>> {
  const installs = join(machine.home, '.svc/installs')
  const records = namesBelow(installs).filter((name) => name.endsWith('record.json'))
  const found = records.map((name) => jsonAt(join(installs, name))).find(({ destination }) => destination === join(machine.root, place))
  return found ?? {}
}
