/** Control groups as files: what is written into them, and what is read from them. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { readLimits } from '../common/limits.ts'
import { makeGroup } from './cgroup.ts'

const limits = readLimits({ sandbox: { memory_bytes: 1000, processes: 2 } })
const fileOf = (folder: string, name: string): string => readFileSync(join(folder, 'episode', name), 'utf8')

it('limits memory without swap, processes and the weight of the processor', () => {
  const folder = temporaryFolder()
  expect(makeGroup('episode', limits, folder)?.entrance).toBe(join(folder, 'episode/cgroup.procs'))
  const written = ['memory.max', 'memory.swap.max', 'memory.oom.group', 'pids.max', 'cpu.weight'].map((name) => fileOf(folder, name))
  expect(written).toEqual(['1000', '0', '1', '32', '25'])
})

it('kills by the kernel, and knows when the kernel killed', () => {
  const folder = temporaryFolder()
  const group = makeGroup('episode', limits, folder) ?? expect.fail('no group')
  group.kill()
  expect(fileOf(folder, 'cgroup.kill')).toBe('1')
  expect(group.ranOut()).toBe(false)
  writeFileSync(join(folder, 'episode/memory.events'), 'low 0\nhigh 0\nmax 31\noom 1\noom_kill 0\n')
  expect(group.ranOut()).toBe(false)
  writeFileSync(join(folder, 'episode/memory.events'), 'oom 1\noom_kill 2\n')
  expect(group.ranOut()).toBe(true)
})

it('is removed once it is empty', async () => {
  const folder = temporaryFolder()
  const group = makeGroup('episode', limits, folder) ?? expect.fail('no group')
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
  expect(makeGroup('episode', limits, folder)).toBeNull()
  expect(makeGroup('other', limits, join(folder, 'missing'))).toBeNull()
  expect(makeGroup('other', limits, null)).toBeNull()
})
