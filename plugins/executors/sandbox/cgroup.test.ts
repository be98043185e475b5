/** Control groups as files: what is written into them, and what is read from them. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { readLimits } from '../common/limits.ts'
import { findMaker, groupMaker, makeGroup, type GroupMaker } from './cgroup.ts'

const inFolder = (path: string): GroupMaker => ({ kind: 'folder', path })
const limits = readLimits({ sandbox: { memory_bytes: 1000, processes: 2 } })
const fileOf = (folder: string, name: string): string => readFileSync(join(folder, 'episode', name), 'utf8')

it('limits memory without swap, processes and the weight of the processor', () => {
  const folder = temporaryFolder()
  expect(makeGroup('episode', limits, inFolder(folder))?.entrance).toBe(join(folder, 'episode/cgroup.procs'))
  const written = ['memory.max', 'memory.swap.max', 'memory.oom.group', 'pids.max', 'cpu.weight'].map((name) => fileOf(folder, name))
  expect(written).toEqual(['1000', '0', '1', '32', '1'])
})

it('kills by the kernel, and knows when the kernel killed', () => {
  const folder = temporaryFolder()
  const group = makeGroup('episode', limits, inFolder(folder)) ?? expect.fail('no group')
  group.kill()
  expect(fileOf(folder, 'cgroup.kill')).toBe('1')
  expect(group.ranOut(1)).toBe(false)
  writeFileSync(join(folder, 'episode/memory.events'), 'low 0\nhigh 0\nmax 31\noom 1\noom_kill 0\n')
  expect(group.ranOut(1)).toBe(false)
  writeFileSync(join(folder, 'episode/memory.events'), 'oom 1\noom_kill 2\n')
  expect(group.ranOut(1)).toBe(true)
})

it('is removed once it is empty', async () => {
  const folder = temporaryFolder()
  const group = makeGroup('episode', limits, inFolder(folder)) ?? expect.fail('no group')
  const path = join(folder, 'episode')
  setTimeout(() => {
    rmSync(path, { recursive: true })
    mkdirSync(path)
  }, 20)
  await group.remove()
  expect(existsSync(path)).toBe(false)
})

it('is none where it cannot be made, and leaves nothing', () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'episode'))
  expect(makeGroup('episode', limits, inFolder(folder))).toBeNull()
  expect(makeGroup('other', limits, inFolder(join(folder, 'missing')))).toBeNull()
  expect(makeGroup('other', limits, null)).toBeNull()
})

/** Groups as files: nothing in them acts by itself. */
function hierarchy(own: string, groups: Readonly<Record<string, string>>) {
  const mount = temporaryFolder()
  for (const [path, controllers] of Object.entries(groups)) {
    mkdirSync(join(mount, path), { recursive: true })
    writeFileSync(join(mount, path, 'cgroup.subtree_control'), controllers)
    writeFileSync(join(mount, path, 'cgroup.procs'), '')
  }
  const files = { mountinfo: join(mount, 'mountinfo'), cgroup: join(mount, 'cgroup') }
  writeFileSync(files.mountinfo, `25 1 0:22 / /proc rw - proc proc rw\n30 1 0:26 / ${mount} rw,nosuid shared:4 - cgroup2 cgroup2 rw\n`)
  writeFileSync(files.cgroup, `4:memory:/elsewhere\n0::${own}\n`)
  return { mount, system: { ...files, hasScopes: () => false } }
}

describe('where groups are made', () => {
  it('in the first group above that has both controllers', () => {
    const { mount, system } = hierarchy('/a/b', { '.': 'cpu', a: 'cpu memory pids', 'a/b': 'memory pids' })
    expect(findMaker(system)).toEqual(inFolder(join(mount, 'a')))
    expect(readFileSync(join(mount, 'cgroup.subtree_control'), 'utf8')).toBe('+memory +pids')
  })

  it('nowhere without a mounted cgroup2', () => {
    const { system } = hierarchy('/', { '.': 'memory pids' })
    writeFileSync(system.mountinfo, '30 1 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n')
    expect(findMaker({ ...system, hasScopes: () => true })).toBeNull()
  })

  it("by the user's systemd, where no folder can be written", () => {
    const { system } = hierarchy('/user.slice', {})
    expect(findMaker({ ...system, hasScopes: () => true })).toEqual({ kind: 'scope' })
    expect(findMaker(system)).toBeNull()
  })

  it('is decided once', () => {
    let asked = 0
    const find = (): null => ((asked += 1), null)
    const first = groupMaker(find)
    expect([groupMaker(find), asked <= 1]).toEqual([first, true])
  })
})

describe("a scope of the user's systemd", () => {
  it('has the limits in its words, and leaves nothing of the environment to the sandbox', () => {
    vi.stubEnv('XDG_RUNTIME_DIR', '/run/user/7')
    vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', 'unix:path=/run/user/7/bus')
    onTestFinished(() => void vi.unstubAllEnvs())
    const group = makeGroup('episode', limits, { kind: 'scope' }) ?? expect.fail('no scope')
    expect(group.prefix.join(' ')).toBe(
      'systemd-run --user --scope --quiet --collect --unit=episode --property MemoryMax=1000 --property MemorySwapMax=0 ' +
        '--property TasksMax=32 --property CPUWeight=1 -- /usr/bin/env -i',
    )
    expect(group.env).toEqual({ XDG_RUNTIME_DIR: '/run/user/7', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/7/bus' })
  })

  it('ran out of memory only where the kernel killed', () => {
    const group = makeGroup('episode', limits, { kind: 'scope' })
    expect([0, 137, 143].map((exitCode) => group?.ranOut(exitCode))).toEqual([false, false, false])
  })
})
