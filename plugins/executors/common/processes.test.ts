/** The measures of an episode's processes, on a /proc of the test's own. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { readLimits } from './limits.ts'
import { watch } from './processes.ts'

const MIB = 1024
/** A process of an episode may hold 64 MiB. */
const limits = readLimits({ sandbox: { memory_bytes: 64 * 1024 * 1024 } })

const processWith = (...lines: readonly string[]): string => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'fd'))
  writeFileSync(join(folder, 'status'), ['Threads:\t1', ...lines, ''].join('\n'))
  return folder
}

it.each(['RssAnon', 'RssShmem', 'VmSwap', 'VmPTE'])('%s counts as memory', async (what) => {
  const path = temporaryFolder()
  const held = [processWith(`RssAnon:\t${20 * MIB} kB`), processWith(`${what}:\t${60 * MIB} kB`)]
  const ended = Promise.withResolvers<unknown>()
  const stop = watch({ folder: { path, root: path, workspace: path }, processes: () => held, limits }, ended.resolve)
  expect(await ended.promise).toBe('memory')
  stop()
})
