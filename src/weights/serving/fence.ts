/** Keeps a scenario's requests on its own weights: leases the adapter, names it to the engine, and holds the answer against it. */
import {
  conflict,
  invalid,
  type InferenceHooks,
  type JsonObject,
  type Release,
  type ServedAdapter,
  type WeightRuntime,
} from '../../contract/index.ts'
import { dialects } from '../../dialects/index.ts'
import { loadOf } from '../load-id.ts'
import { nothingServed } from './refusals.ts'
import { trainingOf, type ServedLoad } from './spans.ts'

export function makeFence(weights: WeightRuntime, scenario: string): InferenceHooks {
  /** The first load that a request for the release was made on; loads only ascend, so every later one is newer. */
  const frozen = new WeakMap<Release, ServedAdapter>()
  /** The same of the loads that are the base, which has no name of its own: it may be served a moment before its release is the head. */
  const onBase = new WeakMap<Release, ServedAdapter>()
  let vocabulary = 0

  return {
    async begin(_release, signal) {
      const lease = await weights.lease(scenario, signal)
      try {
        vocabulary = (await weights.model(signal)).vocabulary
      } catch (error) {
        lease.end()
        throw error
      }
      return () => lease.end()
    },
    prepare(release, _dialect, body) {
      const served = servedBy(weights, scenario)
      if (!frozen.has(release)) frozen.set(release, served)
      if (served.adapter === null && !onBase.has(release)) onBase.set(release, served)
      return fenced(body, served.adapter)
    },
    verify(release, dialect, _answer, capture) {
      if (dialects[dialect].writeCount !== undefined) return undefined
      if (capture === undefined) throw conflict('no_load_id', 'the engine did not say which weights answered; nothing was recorded')
      const newest = servedBy(weights, scenario)
      const base = onBase.get(release)
      const loads = { frozen: named(frozen.get(release) ?? newest), base: base ? named(base) : null, newest: named(newest) }
      return trainingOf(capture, { scenario, ...loads, vocabulary })
    },
  }
}

function servedBy(weights: WeightRuntime, scenario: string): ServedAdapter {
  const served = weights.served(scenario)
  if (served === null) throw nothingServed()
  return served
}

/** A streamed answer is held back and checked whole, so nothing is asked of the engine for it. */
function fenced(body: JsonObject, adapter: string | null): JsonObject {
  const { lora_path: path = adapter, return_meta_info: proof } = body
  if (path !== adapter) throw invalid('foreign_lora_path', 'lora_path must be left out: the service names the adapter of the scenario')
  const isProved = body['stream'] !== true
  if (proof !== undefined && proof !== isProved)
    throw invalid('foreign_return_meta_info', 'return_meta_info must be left out: the service asks for what it needs')
  return { ...body, ...(adapter === null ? {} : { lora_path: adapter }), ...(isProved ? { return_meta_info: true } : {}) }
}

function named(served: ServedAdapter): ServedLoad {
  const load = loadOf(served)
  if (load === null) throw conflict('no_load_id', 'what is served has no load id; nothing was recorded')
  return { ...load, isBase: served.adapter === null }
}
