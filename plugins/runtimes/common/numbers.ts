/** Token ids and log-probabilities as an engine reported them: complete and finite, or the answer is not learnt from. */
import { upstream, type AdapterSpan, type Json, type Refusal } from '../../../src/contract/index.ts'
import { isList } from '../../../src/dialects/index.ts'

export function idsOf(value: Json | undefined, what: string): readonly number[] {
  if (!isList(value)) throw broken(`it came without ${what}`)
  return value.map((id) => {
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0) throw broken(`not every one of ${what} is a token id`)
    return id
  })
}

export function logProbsOf(values: readonly (Json | undefined)[]): readonly number[] {
  return values.map((value) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) throw broken('not every log-probability is a number')
    return value
  })
}

/** The engine also counts its tokens; a list of another length is incomplete. */
export function checkCount(list: readonly unknown[], count: Json | undefined, what: string): void {
  if (typeof count === 'number' && count !== list.length) throw broken(`${what} are ${list.length}, and the engine counted ${count}`)
}

export function checkSame(ids: readonly number[], asked: readonly number[], what: string): void {
  if (ids.length !== asked.length || ids.some((id, at) => id !== asked[at])) throw broken(`${what} are not the ones that were asked for`)
}

/** Engines that report no version per token abort running requests before a change, so one answer is one span. */
export const oneSpan = (tokens: readonly number[], adapter: string | null): readonly AdapterSpan[] =>
  tokens.length === 0 ? [] : [{ start: 0, end: tokens.length, adapter }]

export const broken = (why: string): Refusal => upstream('engine_answer_broken', `the engine's answer is not one to learn from: ${why}`)
