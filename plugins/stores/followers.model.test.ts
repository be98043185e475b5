/** Followers of the stores that need nothing but Node, under random appends, landings, archives and settings. */
import { it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import memory from './memory/index.ts'
import sqlite from './sqlite/index.ts'
import { liveAndFollow, TIME_LIMIT_MS } from './testing/followers.ts'

it.each([
  { name: 'memory', plugin: memory.plugin, open: () => memory.plugin.make({}) },
  { name: 'sqlite', plugin: sqlite.plugin, open: () => sqlite.plugin.make({ directory: temporaryFolder() }) },
] as const)(
  'followers of the $name store end with what the rows say, whatever happened and whoever joined or died meanwhile',
  liveAndFollow,
  TIME_LIMIT_MS,
)
