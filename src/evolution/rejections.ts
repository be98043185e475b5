/** What people rejected: told to the next proposer, and the same change is not tried again. */
import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json, type JsonObject, type Mutation, type Rejected, type Rejection } from '../contract/index.ts'

interface Told {
  readonly rejected: readonly Rejected[]
  /** The newest row that rejected a release and was told. */
  readonly reviewed: number
}

/** Every order has the latest rejections: those that the state has already are left out. */
export function withRejections<State extends Told>(state: State, rejections: readonly Rejection[] = []): State {
  const news = rejections.filter(({ rejected_at }) => rejected_at > state.reviewed)
  const rejected = news.map(({ step, reason, metrics }): Rejected => ({
    step,
    mutations: mutationsIn(metrics),
    reason: `a person rejected it: ${reason}`,
    byPerson: true,
  }))
  return {
    ...state,
    rejected: [...state.rejected, ...rejected],
    reviewed: Math.max(state.reviewed, ...news.map(({ rejected_at }) => rejected_at)),
  }
}

/** As the step that held the change wrote them into its row. */
function mutationsIn({ mutation, mutations }: JsonObject): readonly Mutation[] {
  const listed: readonly Json[] = Array.isArray(mutations) ? mutations : mutation === undefined ? [] : [mutation]
  return listed.filter(isMutation)
}

const isMutation = (value: unknown): value is Mutation =>
  isObject(value) && typeof value['op'] === 'string' && typeof value['id'] === 'string'

/** Why a person does not want this very change; null where nobody rejected it. */
export function personsNo(rejected: readonly Rejected[], mutations: readonly Mutation[]): string | null {
  const plain: Json = JSON.parse(JSON.stringify(mutations))
  return rejected.find((each) => each.byPerson === true && isDeepStrictEqual(each.mutations, plain))?.reason ?? null
}

/** Every row holds them; beyond this size the oldest are dropped. */
const REJECTED_BYTES_MAX = 1024 * 1024

/** What people rejected, and the newest of the others. One that is too large is left out. */
export function keptRejections(rejected: readonly Rejected[], othersMax: number): readonly Rejected[] {
  const [persons, others] = [true, false].map((wanted) => rejected.filter(({ byPerson = false }) => byPerson === wanted).toReversed())
  let left = REJECTED_BYTES_MAX
  const fits = (each: Rejected): boolean => {
    const bytes = Buffer.byteLength(JSON.stringify(each))
    if (bytes > left) return false
    left -= bytes
    return true
  }
  const kept = new Set([...(persons ?? []), ...(others ?? []).slice(0, othersMax)].filter(fits))
  return rejected.filter((each) => kept.has(each))
}
