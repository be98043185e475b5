/** The service as a process of its own that says where its weight job is: settings as on the command line, its address on standard output. */
import promises from 'node:fs/promises'
import { flushCompileCache, syncBuiltinESMExports } from 'node:module'
import { z } from 'zod'
import { builtins } from '../../../plugins/index.ts'
import sqlite from '../../../plugins/stores/sqlite/index.ts'
import { define, type Store } from '../../../src/contract/index.ts'
import { startService } from '../../../src/main.ts'
import { wrapScenario, wrapStore } from '../../fixtures/wrap-store.ts'
import { loadArguments } from '../../support/settings.ts'
import { reach, type Point } from './points.ts'

const MARKER = /\/weights\/job\.json$/

reportMarkers()
const store = define('store', { make: async (config) => reportingStore(await sqlite.plugin.make(config)) })
const service = await startService(await loadArguments(process.argv.slice(2)), {
  plugins: { ...builtins, store: { sqlite: () => Promise.resolve({ default: store }) } },
})
process.once('SIGTERM', () => void service.close())
process.stdout.write(`${service.address}\n`)
// A killed process keeps nothing it compiled, unless it does so now.
flushCompileCache()

/** The marker is read before anything of a job is done, and is what it says from the moment it has its name. */
function reportMarkers(): void {
  const { readFile, rename } = promises
  Object.assign(promises, {
    async readFile(...args: Parameters<typeof readFile>) {
      if (typeof args[0] === 'string' && MARKER.test(args[0])) await reach('preparing')
      return readFile(...args)
    },
    async rename(...args: Parameters<typeof rename>) {
      await rename(...args)
      if (!MARKER.test(String(args[1]))) return
      const point = pointOf(JSON.parse(await readFile(args[1], 'utf8')))
      if (point !== null) await reach(point)
    },
  })
  syncBuiltinESMExports()
}

const marker = z.object({ status: z.string(), model_id: z.string().optional(), trained: z.unknown().optional() })

function pointOf(written: unknown): Point | null {
  const { status, model_id, trained } = marker.parse(written)
  if (status === 'CHECKPOINT') return 'checkpoint'
  if (status === 'EXAMINED') return 'examined'
  if (status !== 'RUNNING') return null
  if (trained !== undefined) return 'trained'
  return model_id === undefined ? 'session' : 'model'
}

function reportingStore(inner: Store): Store {
  return wrapStore(inner, {
    scenario(name) {
      const scenario = inner.scenario(name)
      return wrapScenario(scenario, {
        async commit(commit, fence) {
          await scenario.commit(commit, fence)
          if (commit.operation === 'train') await reach('row')
        },
      })
    },
  })
}
