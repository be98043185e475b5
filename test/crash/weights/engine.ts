/** Loaded before the engine of the tests: it says when it is in the middle of loading an adapter. */
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { reach, type Point } from './points.ts'

const WEIGHTS = /\/adapter_model\.safetensors$/
/** What a scenario is served by is loaded when the service starts; then comes the candidate, then what was published. */
const LOADS: readonly (Point | null)[] = [null, 'trying', 'loading']

const { access } = promises
let loads = 0
promises.access = async (...args) => {
  await access(...args)
  if (!WEIGHTS.test(String(args[0]))) return
  const point = LOADS[loads] ?? null
  loads += 1
  if (point !== null) await reach(point)
}
syncBuiltinESMExports()
