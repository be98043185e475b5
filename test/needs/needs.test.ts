import { afterEach, describe, expect, it, vi } from 'vitest'
import { program } from '../support/programs.ts'
import { needsOf } from './list.ts'
import { lineOf } from './missing.ts'
import { installPackages, type Ended } from './packages.ts'

const NAMES = ['busybox', 'fish', 'zsh']
const DONE: Ended = { isDone: true, said: '' }
const failed = (said: string): Ended => ({ isDone: false, said })

afterEach(() => vi.restoreAllMocks())

/** A package manager that ends each call as the test sets; answers its calls, and how often one waited. */
async function asked(ends: readonly Ended[], uid = 0) {
  vi.spyOn(process, 'getuid').mockReturnValue(uid)
  const calls: string[] = []
  let rests = 0
  const problem = await installPackages(NAMES, {
    run: async (command) => {
      calls.push(command.filter((word) => !word.startsWith('-')).join(' '))
      return ends[calls.length - 1] ?? failed('asked too often')
    },
    rest: async () => void (rests += 1),
  })
  return { calls, rests, problem }
}

const LOCK = 'DPkg::Lock::Timeout=1800'
const INSTALL = `apt-get install ${LOCK} busybox fish zsh`
const UPDATE = `apt-get update ${LOCK}`

describe('the packages of a run', () => {
  it('are installed in one call, which waits for the lock', async () => {
    expect(await asked([DONE])).toEqual({ calls: [INSTALL], rests: 0, problem: null })
  })

  it('are installed on a machine that does not know yet which packages there are', async () => {
    const { calls, problem } = await asked([failed('E: Unable to locate package fish'), DONE, DONE])
    expect({ calls, problem }).toEqual({ calls: [INSTALL, UPDATE, INSTALL], problem: null })
  })

  it('wait for those locks too that the package manager does not wait for', async () => {
    const locked = failed('E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)\nE: Unable to lock directory')
    expect(await asked([failed('E: Unable to locate package fish'), locked, locked, DONE, DONE])).toMatchObject({ rests: 2, problem: null })
  })

  it('are installed without those that the machine does not know, and one line says which', async () => {
    const unknown = failed('W: a warning\nE: Unable to locate package fish')
    const { calls, problem } = await asked([unknown, DONE, unknown, DONE])
    expect(calls.at(-1)).toBe(`apt-get install ${LOCK} busybox zsh`)
    expect(problem).toBe('Unable to locate package fish')
  })

  it('are installed where an earlier installation was killed half way', async () => {
    const interrupted = failed("E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem. ")
    const { calls, problem } = await asked([interrupted, DONE, DONE, DONE])
    expect({ calls, problem }).toEqual({ calls: [INSTALL, 'dpkg', UPDATE, INSTALL], problem: null })
  })

  it('are left to root', async () => {
    expect(await asked([DONE], 1000)).toEqual({ calls: [], rests: 0, problem: 'only root may install packages' })
  })
})

describe('a run', () => {
  it('needs what its files need, and a part of the tests no more than that', () => {
    expect(needsOf(['src/kit/lane.test.ts', 'test/rooms.test.ts'])).toEqual([])
    expect(needsOf(['test/install/cut.test.ts'])).toEqual(['bash', 'busybox', 'curl', 'dash', 'ksh', 'mksh', 'yash', 'zsh'])
    expect(needsOf(['scripts/tiny-model/llama.test.ts'])).toEqual(['llama'])
    expect(needsOf(['src/cli/terminal.test.ts', 'test/weights/live.test.ts'])).toEqual(['script', 'torch', 'llama', 'tiny model'])
  })

  it('says in one line what could not be had, why, and how to get it', () => {
    const root = 'only root may install packages'
    expect(lineOf({ fish: root, torch: root, 'tiny model': root, llama: 'npm failed' })).toBe(
      'not on this machine, and needed by tests: fish, torch, tiny model (only root may install packages); llama (npm failed); ' +
        'as root: apt-get install -y fish python3-torch libopenblas0-pthread',
    )
  })
})

it('a test that needs what is not listed for it fails on every machine, not on fresh ones alone', () => {
  expect(() => program('chromium-headless-shell')).toThrow(
    'test/needs/needs.test.ts needs chromium-headless-shell: say so in test/needs/list.ts',
  )
})
