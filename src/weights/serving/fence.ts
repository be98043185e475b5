/** Keeps a scenario's requests on its own weights: leases the adapter, names it to the engine, and checks the answer against it. */
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

export function makeFence(weights: WeightRuntime, scenario: string): Required<InferenceHooks> {
  /** The first load that a request of the release was made on; loads ascend, so later ones are newer. */
  const frozen = new WeakMap<Release, ServedAdapter>()
  /** The same for loads of the base, which has no name: it may be served a moment before its release is the head. */
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

/** A streamed answer is held back and checked whole, so it needs no proof from the engine. */
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
