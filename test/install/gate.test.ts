/** What a release needs of a machine keeps it from being installed there until a person has checked it off. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectWhole, HOLDING, jsonAt, sharedInstallWorld, ownInstallWorld, RELEASE_FILE, TOKEN, type Scenario } from './install-world.ts'
import { makeMachine, namesBelow, SHELLS_TRIED, type Ended, type Machine } from './machine.ts'

const world = sharedInstallWorld()

describe.each(SHELLS_TRIED)('under %s', (shell) => {
  it('a release that needs something is refused with the list and the release to begin with, and nothing is made [harness.install-5]', async () => {
    const machine = makeMachine()
    const { scenario, fallback, needy } = await aNeedyScenario(`refused ${shell}`)
    const { code, out, err } = await scenario.install(machine, shell)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(`svc: release ${needy} needs to be set up first. Nothing was installed.`)
    expect(err).toContain('\n  radio (service): Turn it on\n  key (variable RADIO_KEY)\n')
    expect(err).toContain(`?release_id=${fallback}`)
    expect(machine.made()).toEqual([])
    expect(machine.npmCalls()).toEqual([])
  })

  it('after the fallback, the lines it printed set the release up and install it [harness.setup] [harness.install-5]', async () => {
    const machine = makeMachine()
    const { scenario, fallback, needy } = await aNeedyScenario(`printed ${shell}`)
    const { err } = await scenario.install(machine, shell)
    const [line = ''] = /^ {2}printf .*$/m.exec(err) ?? []
    expect(await machine.run(['sh', '-c', line], { env: { SVC_TOKEN: 'open-sesame' } })).toMatchObject({ code: 0 })
    await expectWhole(scenario, machine, fallback)
    expect(await machine.command(['update'])).toMatchObject({ code: 3, err: expect.stringContaining(`setup --release ${needy}`) })
    expect(await machine.command(['setup', '--mark', 'radio', '--release', needy])).toMatchObject({ code: 1 })
    expect(await scenario.install(machine, shell)).toMatchObject({ code: 1, err: expect.not.stringContaining('radio') })
    await expectWhole(scenario, machine, fallback)
    expect(await machine.command(['setup', '--mark', 'key', '--release', needy])).toMatchObject({ code: 0 })
    expect(await scenario.install(machine, shell)).toMatchObject({ code: 0 })
    await expectWhole(scenario, machine, needy)
    expect(jsonAt(join(machine.destination, RELEASE_FILE))['setup']).toEqual([
      { name: 'radio', checked_at: expect.any(Number), check: 'true' },
      { name: 'key', checked_at: expect.any(Number), check: 'RADIO_KEY' },
    ])
  })

  it('an item whose check has changed is not checked off any more, and the others still are [harness.install-5]', async () => {
    const machine = makeMachine()
    const { scenario, needy } = await aNeedyScenario(`changed ${shell}`)
    await settle(scenario, machine, shell, needy, ['radio', 'key'])
    const changed = await scenario.order('Listen closely.', [{ name: 'radio', kind: 'service', check: 'false' }])
    const { code, err } = await scenario.install(machine, shell)
    expect(code).toBe(1)
    expect(err).toContain('\n  radio (service)\n')
    expect(err).not.toContain('RADIO_KEY')
    expect(err).toContain(`svc-pi setup --release '${changed}'`)
    await expectWhole(scenario, machine, needy)
  })
})

it('a check runs where the person said so and never on the service, whatever is asked of it [train.rule-8] [harness.setup]', async () => {
  const machine = makeMachine()
  const trace = join(machine.root, 'checked')
  const scenario = await world.scenario('checks')
  const needy = await scenario.order('Be careful.', [{ name: 'trace', kind: 'permission', check: `: >'${trace}'` }])
  await scenario.svc.catalog()
  await scenario.svc.manifest(needy)
  await scenario.script(`&release_id=${needy}`)
  await scenario.order('Be more careful.')
  const first = await firstRelease(scenario)
  await scenario.install(machine, 'dash', { release: first })
  await scenario.install(machine, 'dash')
  expect(await machine.command(['setup', '--json'])).toMatchObject({ code: 1 })
  expect(existsSync(trace)).toBe(false)
  const listed = await machine.command(['setup', '--yes'])
  expect(listed).toMatchObject({ code: 1, out: expect.stringContaining(`check: : >'${trace}'`) })
  expect(existsSync(trace)).toBe(false)
  expect(await machine.command(['setup', '--run-checks', digestIn(listed)])).toMatchObject({ code: 0 })
  expect(existsSync(trace)).toBe(true)
  expect(namesBelow(world.here.directory).some((name) => name.endsWith('checked'))).toBe(false)
  expect(await scenario.install(machine, 'dash')).toMatchObject({ code: 0 })
})

it('a check that fails leaves its item open, and an unknown release or item has a code of its own [harness.setup]', async () => {
  const { machine, scenario } = await world.fresh('failing checks')
  const needy = await scenario.order('Be careful.', [{ name: 'trace', kind: 'permission', check: 'echo no luck; exit 7' }])
  const first = await firstRelease(scenario)
  await scenario.install(machine, 'dash', { release: first })
  const listed = await machine.command(['setup', '--release', needy])
  const failed = await machine.command(['setup', '--run-checks', digestIn(listed), '--release', needy])
  expect(failed).toMatchObject({ code: 1, err: expect.stringContaining('no luck\n  the check failed with status 7\n') })
  expect(await machine.command(['setup', '--mark', 'nothing', '--release', needy])).toMatchObject({ code: 2 })
  expect(await machine.command(['setup', '--release', 'nothing'])).toMatchObject({ code: 2 })
  expect(jsonAt(join(machine.destination, RELEASE_FILE))['setup']).toEqual([])
})

it('a release file that a repository brings checks nothing off, and what is in its place is not read', async () => {
  const machine = makeMachine()
  const { scenario, fallback, needy } = await aNeedyScenario('forged')
  const path = join(machine.destination, RELEASE_FILE)
  const setup = ['radio', 'key'].map((name) => ({ name, checked_at: 1 }))
  const forged = { release_id: fallback, content_id: '', files: ['mine.txt'], requires: [], setup }
  mkdirSync(machine.destination)
  writeFileSync(join(machine.destination, 'mine.txt'), 'mine')
  writeFileSync(path, JSON.stringify(forged))
  expect(await scenario.install(machine, 'dash', { release: needy })).toMatchObject({
    code: 1,
    err: expect.stringContaining('radio (service)'),
  })
  expect(await scenario.install(machine, 'dash', { release: fallback })).toMatchObject({ code: 0 })
  const good = readFileSync(path)
  writeFileSync(path, JSON.stringify(forged))
  expect(await machine.command(['update', '--release', needy])).toMatchObject({ code: 3 })
  expect(await scenario.install(machine, 'dash', { release: fallback })).toMatchObject({ code: 0 })
  expect([readFileSync(path), existsSync(join(machine.destination, 'mine.txt'))]).toEqual([good, true])
  rmSync(path)
  execFileSync('mkfifo', [path])
  expect(await machine.command(['update', '--release', needy])).toMatchObject({ code: 3 })
  expect(await scenario.install(machine, 'dash', { release: fallback })).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^svc: \S+ is no plain file; move it away and run the same command again\n$/),
  })
})

it('a release that waits for review is set up before it is promoted, and is installed at once afterwards [harness.setup]', async () => {
  const holding = await ownInstallWorld({ recipe: HOLDING })
  const { machine, scenario } = await holding.fresh('held')
  expect(await scenario.install(machine, 'dash')).toMatchObject({ code: 0 })
  const held = await scenario.order('Listen.', [{ name: 'radio', kind: 'service', check: 'true' }])
  expect(await machine.command(['setup'])).toMatchObject({ code: 0 })
  // The token of the machine is shown no release that waits for review.
  const unseen = await machine.command(['setup', '--release', held])
  expect(unseen).toMatchObject({ code: 2, err: expect.stringContaining('is shown to a token that may read it') })
  const env = { SVC_TOKEN: TOKEN }
  const listed = await machine.command(['setup', '--release', held], { env })
  expect(listed).toMatchObject({ code: 1 })
  const [line = ''] = /svc-pi setup --release .*/.exec(listed.out) ?? []
  expect(await machine.run(['sh', '-c', `${machine.home}/.local/bin/${line}`], { env })).toMatchObject({ code: 0 })
  const { release_id: promoted } = await scenario.svc.promote(held)
  expect(await machine.command(['update'])).toMatchObject({ code: 0 })
  await expectWhole(scenario, machine, promoted)
  expect(readFileSync(join(machine.destination, 'pi-agent/AGENTS.md'), 'utf8')).toBe('Listen.\n')
})

/** One release that needs nothing, and one that needs two things. */
async function aNeedyScenario(name: string) {
  const scenario = await world.scenario(name)
  const fallback = await scenario.order('Be brief.')
  const needy = await scenario.order('Listen.', [
    { name: 'radio', kind: 'service', check: 'true', prompt: 'Turn it on' },
    { name: 'key', kind: 'env', check: 'RADIO_KEY' },
  ])
  return { scenario, fallback, needy }
}

async function settle(scenario: Scenario, machine: Machine, shell: string, release: string, names: readonly string[]): Promise<void> {
  const first = await firstRelease(scenario)
  await scenario.install(machine, shell, { release: first })
  const marks = names.flatMap((name) => ['--mark', name])
  expect(await machine.command(['setup', ...marks, '--release', release])).toMatchObject({ code: 0 })
  expect(await scenario.install(machine, shell, { release })).toMatchObject({ code: 0 })
}

async function firstRelease({ svc }: Scenario): Promise<string> {
  const [row] = await svc.catalog()
  return row?.release_id ?? ''
}

/** What `setup` lists its checks under. */
const digestIn = ({ out }: Ended): string => /--run-checks ([0-9a-f]{64})/.exec(out)?.[1] ?? ''
