/** Homes that installs meet: odd names, none, full ones, those that may not be written, and a person who is nobody. */
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { fillDisk, mountDisk } from '../support/folder.ts'
import { IS_SHORT } from '../support/short.ts'
import { sharedInstallWorld, TOKEN } from './install-world.ts'
import { makeMachine, namesBelow, type Ended, type Machine } from './machine.ts'

const world = sharedInstallWorld()
let script: Uint8Array
beforeAll(async () => {
  script = (await (await world.scenario('homes')).script()).bytes
})

const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
const piped = (
  machine: Machine,
  shell: string,
  env: Readonly<Record<string, string | undefined>>,
  as: readonly string[] = [],
): Promise<Ended> =>
  machine.run([...as, ...shell.split(' '), '-s', '--', machine.destination, machine.prefix], {
    input: script,
    env: { SVC_TOKEN: TOKEN, ...env },
  })
const expectOneLine = ({ code, out, err }: Ended): void => {
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err.split('\n').filter((line) => line.startsWith('svc: '))).toHaveLength(1)
  expect(err).not.toMatch(/^ {4}at /m)
}

const SHELLS = ['dash', 'bash', 'zsh', 'busybox sh', 'mksh', 'yash']
const NAMES = ['with a space', "it's", 'a"b', '$(touch ran)', 'two\nlines', '-n', '*']
const namesUnder = (shell: string): readonly string[] =>
  IS_SHORT && shell !== 'dash' ? NAMES.slice(SHELLS.indexOf(shell)).slice(0, 1) : NAMES

describe.each(SHELLS)('under %s', (shell) => {
  it.each(namesUnder(shell))('a home called %s is a home', async (name) => {
    const machine = makeMachine()
    const HOME = join(machine.root, name)
    mkdirSync(HOME)
    expect(await piped(machine, shell, { HOME })).toMatchObject({ code: 0 })
    expect(await machine.run([join(HOME, '.local/bin/svc-pi'), 'hello'], { env: { HOME } })).toMatchObject({ code: 0, out: 'hello\n' })
    expect(namesBelow(machine.root).filter((each) => /(?:^|\/)ran$/.test(each))).toEqual([])
  })
})

it('a home that is full is said in one line, and the same line installs once there is room', async () => {
  const machine = makeMachine()
  const HOME = join(mountDisk('size=8m'), 'home')
  mkdirSync(HOME)
  const free = fillDisk(join(HOME, '..'))
  const full = await piped(machine, 'dash', { HOME })
  expectOneLine(full)
  free()
  expect(await piped(machine, 'dash', { HOME })).toMatchObject({ code: 0 })
})

it('nobody installs in a home that is theirs, and is told in one line where it is not', async () => {
  const machine = makeMachine()
  for (const folder of [machine.root, join(machine.root, 'work'), join(machine.root, 'scratch')]) chmodSync(folder, 0o777)
  expectOneLine(await piped(machine, 'dash', {}, NOBODY))
  chmodSync(machine.home, 0o777)
  expect(await piped(machine, 'dash', {}, NOBODY)).toMatchObject({ code: 0 })
})
