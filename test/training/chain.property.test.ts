/** The training core against a model, under random sequences of traffic, instructions, failures and crashes. */
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, it, vi } from 'vitest'
import gitContents from '../../plugins/contents/git/index.ts'
import sqliteStore from '../../plugins/stores/sqlite/index.ts'
import { sharedFolder } from '../support/folder.ts'
import { commands, live, script, settings } from './commands.ts'
import { ScenarioWorld, inMemory, type OpenStores } from './world.ts'

/** `npm run test:property` takes many more. */
const RUNS = Number(process.env['TRAINING_RUNS'] ?? 300)
const RUNS_PER_RUN_ON_DISK = 100
const MINUTES_MAX = 60

const folder = sharedFolder()

/** Back-offs take seconds and minutes: the test ends them. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

describe('whatever happens, in whatever order', () => {
  it('every row follows from what was there, and nothing that is due is left undone', { timeout: MINUTES_MAX * 60_000 }, () =>
    hold(RUNS, 40, () => inMemory),
  )

  it('the same is so on a disk', { timeout: MINUTES_MAX * 60_000 }, () => hold(Math.ceil(RUNS / RUNS_PER_RUN_ON_DISK), 25, () => onDisk()))
})

async function hold(numRuns: number, length: number, storesOf: () => OpenStores): Promise<void> {
  await fc.assert(
    fc.asyncProperty(settings, script, commands(length), async (chosen, lines, all) => {
      const world = new ScenarioWorld(chosen, lines, storesOf())
      try {
        await live(world, all)
      } finally {
        await world.close()
      }
    }),
    { numRuns },
  )
}

function onDisk(): OpenStores {
  const directory = mkdtempSync(join(folder, 'case-'))
  return async (before) => {
    await before?.store.close()
    await before?.contents.close()
    return {
      store: await sqliteStore.plugin.make({ directory: join(directory, 'records') }),
      contents: await gitContents.plugin.make({ repository: join(directory, 'artifacts.git') }),
    }
  }
}
