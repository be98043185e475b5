/** Machines with missing programs, conflicts or missing rights, and killed installs: one clear message, and a rerun completes. */
import { chmodSync, mkdirSync, rmSync, symlinkSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { randomOf } from '../crash/random.ts'
import { expectWhole, sharedInstallWorld, tokensOf, type Scenario } from './install-world.ts'
import { makeMachine, SHELLS, type Ended, type Machine } from './machine.ts'

/** `npm run test:crash:install` kills a hundred times. */
const KILLS = Number(process.env['INSTALL_KILLS'] ?? 6)
/** About as many changes as an install from nothing makes to the disk. */
const EVENTS = 60
const UNPRIVILEGED = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']

const world = sharedInstallWorld()

describe.each(SHELLS)('under %s', (shell) => {
  it('without Node there is one line that says what to install, and nothing is written', async () => {
    const machine = makeMachine()
    const path = join(machine.root, 'tools')
    rmSync(join(path, 'node'))
    const ended = await piped(machine, shell, await world.scenario(`no node ${shell}`), { env: { PATH: path } })
    expect(ended).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^svc: node is not on PATH[^\n]*install Node 22 or newer[^\n]*\n$/),
    })
    expect(machine.made()).toEqual([])
  })

  it('with a Node that is too old there is one line that says which it is, and nothing is written', async () => {
    const machine = makeMachine()
    const node = join(machine.root, 'tools/node')
    rmSync(node)
    writeFileSync(node, '#!/bin/sh\ncase $1 in -e) exit 1 ;; --version) echo v18.20.4 ;; *) : >"$MACHINE/ran" ;; esac\n')
    chmodSync(node, 0o755)
    const ended = await piped(machine, shell, await world.scenario(`old node ${shell}`))
    expect(ended).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^svc: Node 20 or newer is needed, this is v18\.20\.4;[^\n]*\n$/),
    })
    expect(machine.made()).toEqual([])
  })

  it('in a home that may not be written there is one line that names the folder, and nothing is written', async () => {
    const machine = makeMachine()
    for (const folder of [machine.root, join(machine.root, 'scratch')]) chmodSync(folder, 0o777)
    chmodSync(machine.home, 0o555)
    const as = process.getuid?.() === 0 ? UNPRIVILEGED : []
    const { bytes } = await (await world.scenario(`locked ${shell}`)).script()
    const words = [...as, ...shell.split(' '), '-s', '--', machine.destination, machine.prefix]
    const { code, err } = await machine.run(words, { input: bytes })
    expect({ code, err }).toEqual({
      code: 1,
      err: `svc: you may not read or write ${machine.home}/.svc; change that and run the same command again\n`,
    })
    expect(machine.made()).toEqual([])
  })

  it('killed at any moment, it leaves nothing that the same line does not complete', { timeout: 300_000 }, async () => {
    const random = randomOf(`${inject('seed')} ${shell}`)
    const { machine, scenario } = await world.fresh(`killed ${shell}`)
    const releases = [await scenario.order('Be brief.'), await scenario.order('Be kind.')]
    for (let nth = 0; nth < KILLS; nth += 1) {
      // Every third time all of it is new; in between only a newer release is applied.
      const isNew = nth % 3 === 0
      const release = releases[isNew ? 0 : 1] ?? ''
      if (isNew)
        for (const folder of [machine.prefix, machine.destination, join(machine.home, '.svc')])
          rmSync(folder, { recursive: true, force: true })
      const event = random.between(0, EVENTS - 1)
      await killedAtEvent(machine, scenario, shell, release, event)
      const { code, err } = await scenario.install(machine, shell, { release })
      expect(code, `after kill ${nth} at event ${event}: ${err}`).toBe(0)
      await expectWhole(scenario, machine, release)
      expect(machine.made().filter((name) => /\/lock|writing|\.[0-9a-f]{8}-[0-9a-f]{4}-|bin\/\./.test(name))).toEqual([])
    }
    expect(await machine.command(['hello'])).toMatchObject({ code: 0, out: 'hello\n' })
    // One for each home that was new.
    expect(await tokensOf(scenario)).toHaveLength(Math.ceil(KILLS / 3))
  })
})

describe('in the way', () => {
  it.each([
    ['the home is a file', (machine: Machine) => (rmSync(machine.home, { recursive: true }), writeFileSync(machine.home, ''))],
    ['.svc is a file', (machine: Machine) => writeFileSync(join(machine.home, '.svc'), '')],
    ['the harness’s folder is a file', (machine: Machine) => writeFileSync(machine.destination, '')],
    ['the harness’s folder is below a file', (machine: Machine) => writeFileSync(join(machine.root, 'work/file'), ''), 'file/below'],
    ['the harness’s folder is a link to nowhere', (machine: Machine) => symlinkSync(join(machine.root, 'nowhere'), machine.destination)],
    ['the harness’s folder is a link to itself', (machine: Machine) => symlinkSync(machine.destination, machine.destination)],
    [
      'a folder is where a file goes',
      (machine: Machine) => mkdirSync(join(machine.destination, 'pi-agent/models.json'), { recursive: true }),
    ],
    ['the prefix is a file', (machine: Machine) => writeFileSync(machine.prefix, '')],
    [
      'the prefix holds packages of somebody else',
      (machine: Machine) => mkdirSync(join(machine.prefix, 'node_modules'), { recursive: true }),
    ],
  ] as [string, (machine: Machine) => void, string?][])('%s: one line says so', async (what, prepare, destination) => {
    const machine = makeMachine()
    prepare(machine)
    const scenario = await world.scenario(what)
    const { code, err } = await scenario.install(machine, 'dash', { args: [destination ?? machine.destination, machine.prefix] })
    const lines = err.split('\n').filter((line) => !/ \.\.\.$| is not on PATH; pi works better/.test(line))
    expect({ code, lines }).toEqual({ code: 1, lines: [expect.stringMatching(/^svc: .{20}/), ''] })
  })

  it('a command of another program in ~/.local/bin stays, and the output says what to run instead', async () => {
    const machine = makeMachine()
    mkdirSync(join(machine.home, '.local/bin'), { recursive: true })
    writeFileSync(join(machine.home, '.local/bin/svc-pi'), '#!/bin/sh\n')
    const scenario = await world.scenario('taken')
    const { code, out } = await scenario.install(machine, 'dash')
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining(join(machine.installFolder(), 'svc-pi')) })
  })
})

/** The script without curl, for machines that have none. */
async function piped(machine: Machine, shell: string, scenario: Scenario, options: { env?: Record<string, string> } = {}): Promise<Ended> {
  const { bytes } = await scenario.script()
  return machine.run([...shell.split(' '), '-s', '--', machine.destination, machine.prefix], { input: bytes, ...options })
}

/** With everything it started, when that many things have happened below the machine's root, or when it is done. */
async function killedAtEvent(machine: Machine, scenario: Scenario, shell: string, release: string, nth: number): Promise<void> {
  const running = scenario.startInstall(machine, shell, { release })
  const watcher = watch(machine.root, { recursive: true })
  let events = 0
  watcher.on('change', () => {
    events += 1
    if (events > nth) running.kill()
  })
  await running.ended
  watcher.close()
}
