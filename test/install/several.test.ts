/** Several installs on one machine: none takes over another, the command finds the one that is meant, and each goes without a trace. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, scenarioNames } from '../spec/support/speak.ts'
import { until } from '../support/wait.ts'
import { jsonAt, openHouse, TOKEN, type House } from './house.ts'
import { makeMachine, namesBelow, type Machine } from './machine.ts'

let house: House
let other: House
beforeAll(async () => {
  house = await openHouse()
  other = await openHouse({ adapter: 'codex' })
})
afterAll(async () => {
  await house.here.close()
  await other.here.close()
})

const made = async (): Promise<readonly string[]> =>
  (await scenarioNames(house.here, bearer(TOKEN))).filter((name) => name.startsWith('harness-'))

describe('without a scenario', () => {
  it('the line makes one when it runs, and run again in that folder goes on with it [harness.install-3]', async () => {
    const machine = makeMachine()
    const before = await made()
    const first = await house.installHere(machine, 'dash')
    expect({ code: first.code, err: first.err }).toMatchObject({ code: 0 })
    const scenario = (await made()).find((name) => !before.includes(name)) ?? ''
    const record = recordOf(machine, 'work/reef-harness')
    expect(record).toMatchObject({ scenario, adapter: 'pi' })
    expect(scenario).toMatch(/^harness-[0-9a-f]{32}$/)
    expect(await house.installHere(machine, 'dash')).toMatchObject({ code: 0, out: expect.stringContaining('is already current') })
    expect(await made()).toHaveLength(before.length + 1)
    expect(await machine.command(['hello'])).toMatchObject({ code: 0, out: 'hello\n' })
  })

  it('two at once in one folder make one, and so does a line that failed half way and is run again', async () => {
    const machine = makeMachine()
    const before = (await made()).length
    writeFileSync(join(machine.root, 'npm-fails'), '')
    expect(await house.installHere(machine, 'dash')).toMatchObject({ code: 1 })
    rmSync(join(machine.root, 'npm-fails'))
    const both = await Promise.all([house.installHere(machine, 'dash'), house.installHere(machine, 'dash')])
    expect(both).toMatchObject([{ code: 0 }, { code: 0 }])
    expect((await made()).length).toBe(before + 1)
  })

  it('a folder with a space in its name, and another home, have one of their own', async () => {
    const machine = makeMachine()
    const before = (await made()).length
    for (const folder of ['a b', 'second']) mkdirSync(join(machine.root, folder))
    mkdirSync(join(machine.root, 'other/home'), { recursive: true })
    expect(await house.installHere(machine, 'dash', { folder: 'a b' })).toMatchObject({ code: 0 })
    expect(existsSync(join(machine.root, 'a b/reef-harness/pi-agent'))).toBe(true)
    const env = { HOME: join(machine.root, 'other/home') }
    expect(await house.installHere(machine, 'dash', { folder: 'second', env })).toMatchObject({ code: 0 })
    expect((await made()).length).toBe(before + 2)
  })

  it('where the service asks for a token that is not set, one line says so and no scenario is made', async () => {
    const machine = makeMachine()
    const before = (await made()).length
    const { bytes } = await house.here.get('/svc/harness/install?adapter=pi', bearer(TOKEN))
    const { code, err } = await machine.run(['dash'], { input: bytes })
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^svc: the service answered 401: [^\n]*SVC_TOKEN[^\n]*\n$/) })
    expect((await made()).length).toBe(before)
  })
})

describe('with two installs of one agent', () => {
  it('the command is for the nearest folder, says which it takes, and elsewhere wants to be told', async () => {
    const { machine, names } = await twoProjects('near')
    for (const [folder, name] of [
      ['one', names[0]],
      ['two', names[1]],
      ['two/deep/er', names[1]],
      ['two/reef-harness', names[1]],
    ] as const) {
      const { code, err } = await machine.command(['report', '--list'], { folder })
      expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(new RegExp(`^svc-pi: scenario ${name} at http://[^\n]*\n$`)) })
    }
    const { code, err } = await machine.command(['report', '--list'])
    expect(code).toBe(1)
    for (const name of names) expect(err).toContain(`\n  scenario ${name} at `)
    const named = await machine.command(['--scenario', names[0] ?? '', 'hello'])
    expect(named).toMatchObject({ code: 0, out: 'hello\n', err: expect.stringContaining(`scenario ${names[0]} at`) })
    expect(await machine.command([`--scenario=${names[0]}`, 'report', '--score', '1'])).toMatchObject({ code: 0 })
    expect(await machine.command(['report', '--score', '1'], { folder: 'two' })).toMatchObject({ code: 1 })
    expect(await machine.command(['--scenario', 'none', 'hello'])).toMatchObject({ code: 1, err: expect.stringContaining('"none"') })
    expect(await machine.command(['--scenario'])).toMatchObject({ code: 2 })
    // Inside a session the commands are that session's, wherever it runs.
    const env = { SVC_HARNESS_ROOT: join(machine.root, 'two/reef-harness') }
    expect((await machine.command(['report', '--list'], { folder: 'one', env })).err).toContain(`scenario ${names[1]} at`)
  })

  it('one harness’s sessions are not reported out of another one’s folder, though both are of one scenario', async () => {
    const machine = makeMachine()
    const scenario = await house.scenario('shared')
    for (const folder of ['one', 'two']) {
      mkdirSync(join(machine.root, folder))
      await scenario.install(machine, 'dash', { folder, args: [] })
    }
    await machine.command(['hello'], { folder: 'one' })
    const elsewhere = await machine.command(['report', '--score', '1'], { folder: 'two' })
    expect(elsewhere).toMatchObject({ code: 1, err: expect.stringContaining('there is nothing to report') })
    expect(await machine.command(['report', '--score', '1'], { folder: 'one' })).toMatchObject({ code: 0 })
  })
})

describe('in one folder', () => {
  it('two agents, and two scenarios, lie side by side and both work', async () => {
    const machine = makeMachine()
    const [pi, second, codex] = [await house.scenario('beside'), await house.scenario('beside 2'), await other.scenario('beside')]
    for (const each of [pi, codex, second]) expect(await each.install(machine, 'dash', { args: [] })).toMatchObject({ code: 0 })
    for (const [place, scenario, adapter] of [
      ['reef-harness', 'beside', 'pi'],
      ['reef-harness-codex', 'beside', 'codex'],
      ['reef-harness-pi', 'beside 2', 'pi'],
    ] as const)
      expect(recordOf(machine, `work/${place}`)).toMatchObject({ scenario, adapter })
    expect(await second.install(machine, 'dash', { args: [] })).toMatchObject({
      out: expect.stringMatching(/is already current\n.*--scenario 'beside 2'/),
    })
    for (const scenario of ['beside', 'beside 2'])
      expect(await machine.command(['--scenario', scenario, 'hello'])).toMatchObject({ code: 0, out: 'hello\n' })
    expect(await machine.command(['report', '--list'], { adapter: 'codex' })).toMatchObject({ code: 0, err: '' })
  })

  it('a folder that was named and holds another harness is refused in one line, and stays as it is', async () => {
    const machine = makeMachine()
    const [first, second] = [await house.scenario('holds'), await house.scenario('wants')]
    await first.install(machine, 'dash')
    const { code, err } = await second.install(machine, 'dash')
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^svc: \S+ holds the harness of scenario "holds" at [^\n]*\n$/) })
    expect(recordOf(machine, 'harness')).toMatchObject({ scenario: 'holds' })
  })
})

describe('uninstall', () => {
  it('leaves no trace on the machine, and asks first', async () => {
    const machine = makeMachine()
    const scenario = await house.scenario('leaves')
    await scenario.install(machine, 'dash', { args: [] })
    await machine.command(['hello'])
    expect(await machine.command(['uninstall'])).toMatchObject({ code: 1, err: expect.stringContaining('--yes') })
    expect(await machine.command(['uninstall', '--yes'])).toMatchObject({ code: 0, err: '' })
    expect(machine.made()).toEqual([])
    expect(await scenarioNames(house.here, bearer(TOKEN))).toContain('leaves')
  })

  it('keeps what a person changed or made, and names what it keeps', async () => {
    const machine = makeMachine()
    const scenario = await house.scenario('keeps')
    await scenario.order('Be brief.')
    await scenario.install(machine, 'dash')
    const rules = join(machine.destination, 'pi-agent/AGENTS.md')
    writeFileSync(rules, 'mine\n')
    writeFileSync(join(machine.destination, 'notes.md'), 'mine\n')
    const { code, err } = await machine.command(['uninstall', '--yes'])
    expect({ code, err }).toEqual({ code: 0, err: `${rules} was changed, and stays\n` })
    expect(namesBelow(machine.destination)).toEqual(['notes.md', 'pi-agent', 'pi-agent/AGENTS.md'])
    expect(readFileSync(rules, 'utf8')).toBe('mine\n')
  })

  it('of one of two leaves the other with its program, its receipts and its command', async () => {
    const { machine, names } = await twoProjects('goes')
    await machine.command(['hello'], { folder: 'one' })
    expect(await machine.command(['uninstall', '--yes'], { folder: 'two' })).toMatchObject({ code: 0 })
    expect(existsSync(join(machine.root, 'two/reef-harness'))).toBe(false)
    expect(await machine.command(['report', '--score', '1'])).toMatchObject({ code: 0, out: expect.stringContaining('1 receipt'), err: '' })
    expect(await machine.command(['uninstall', '--yes'])).toMatchObject({ code: 0, out: expect.stringContaining(names[0] ?? '') })
    expect(machine.made()).toEqual(['one', 'two', 'two/deep', 'two/deep/er'])
  })

  it('is refused while a session runs', async () => {
    const machine = makeMachine()
    const scenario = await house.scenario('runs')
    await scenario.install(machine, 'dash')
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
    expect(await machine.command(['uninstall', '--yes'])).toMatchObject({ code: 0 })
  })
})

/** Two folders with a scenario each, the program shared. */
async function twoProjects(name: string): Promise<{ readonly machine: Machine; readonly names: readonly string[] }> {
  const machine = makeMachine()
  const names = [`${name}-one`, `${name}-two`]
  mkdirSync(join(machine.root, 'one'))
  mkdirSync(join(machine.root, 'two/deep/er'), { recursive: true })
  for (const [index, folder] of ['one', 'two'].entries()) {
    const scenario = await house.scenario(names[index] ?? '')
    expect(await scenario.install(machine, 'dash', { folder, args: [] })).toMatchObject({ code: 0 })
  }
  return { machine, names }
}

function recordOf(machine: Machine, place: string): Readonly<Record<string, unknown>> {
  const installs = join(machine.home, '.reef/installs')
  const records = namesBelow(installs).filter((name) => name.endsWith('record.json'))
  const found = records.map((name) => jsonAt(join(installs, name))).find(({ destination }) => destination === join(machine.root, place))
  return found ?? {}
}
