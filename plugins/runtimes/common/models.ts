/** The list of an engine's models: its base, and the adapters that name it as their parent. */
import { upstream, type JsonObject } from '../../../src/contract/index.ts'
import { filledText, objectsOf } from '../../../src/dialects/index.ts'
import type { EngineHttp } from './http.ts'
import { answerOf } from './replies.ts'

export type Models = Awaited<ReturnType<typeof readModels>>

/** Throws where the engine serves another base: adapters fit only one. */
export async function readModels(http: EngineHttp, wanted: string | null, signal: AbortSignal) {
  const answer = answerOf(await http.get('/v1/models', signal), null)
  const rows = objectsOf(answer['data'])
  const bases = rows.filter((row) => filledText(row['parent']) === null)
  const base = wanted === null ? bases[0] : bases.find((row) => row['id'] === wanted || row['root'] === wanted)
  const id = filledText(base?.['id'])
  if (base === undefined || id === null) throw otherModel(bases, wanted)
  return {
    /** Its name in requests. */
    id,
    /** Its name for trainers and adapters: the engine may serve it under an alias. */
    name: wanted ?? id,
    contextTokens: contextOf(base),
    adapters: rows.flatMap((row) => (filledText(row['parent']) === null ? [] : (filledText(row['id']) ?? []))),
    /** False for older engines, which leave adapters out of the list. */
    namesParents: rows.some((row) => 'parent' in row),
  }
}

function otherModel(bases: readonly JsonObject[], wanted: string | null): Error {
  const served = bases.map((row) => filledText(row['id'])).join(', ')
  return upstream(
    'engine_other_model',
    `the engine serves ${served === '' ? 'no model' : served}, not ${wanted ?? 'any'}: start it with the model of the runtime's settings, or change model there`,
  )
}

function contextOf(base: JsonObject): number {
  const tokens = base['max_model_len']
  return typeof tokens === 'number' && tokens > 0 ? tokens : Number.MAX_SAFE_INTEGER
}
