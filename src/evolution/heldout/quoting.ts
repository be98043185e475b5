/** Finds the samples that would show a held-out task to a proposer. They are kept from it, so that the task stays held out. */
import type { Json, Sample, Task } from '../../contract/index.ts'
import { compact } from '../../kit/index.ts'
import { userTexts } from '../exchanges.ts'
import { ShingleIndex, type QuoteRule } from './shingles.ts'

export const isHeldOut = ({ role }: Task): boolean => role !== 'train'

/** All but a few letters of a prompt: other work of the same kind often begins alike. */
const RULE: QuoteRule = { share: 0.95, letters: Infinity }
/** A sample that holds less than this share of what a task alone has adds nothing to pieces of it in other samples. */
const PIECE_SHARE_MIN = 0.1

/** The samples that hold the prompt of a held-out task, whole or for the most part, alone or together with others. */
export function quotingIn(samples: readonly Sample[], tasks: readonly Task[]): ReadonlySet<Sample> {
  const heldOut = tasks.filter(isHeldOut)
  const known = tasks.filter((task) => !isHeldOut(task)).map(({ prompt }) => compact(prompt))
  const index = new ShingleIndex(
    heldOut.map(({ name, prompt }) => ({ task: name, text: prompt })),
    known,
  )
  const prompts = new Set(heldOut.map(({ prompt }) => compact(prompt)).filter((prompt) => prompt !== ''))
  const seen = new Map(samples.map((sample) => [sample, shownBy(sample, index)]))
  const quoting = new Set(samples.filter((sample) => index.quoted(seen.get(sample) ?? NONE, RULE).size > 0 || saysOne(sample, prompts)))
  for (const sample of piecesIn(seen, quoting, index)) quoting.add(sample)
  return quoting
}
const NONE: ReadonlySet<number> = new Set()

function shownBy({ exchanges, feedback }: Sample, index: ShingleIndex): ReadonlySet<number> {
  const seen = new Set<number>()
  const all = [...exchanges, feedback]
  const texts = [...textsIn(all), ...textsIn(all, 'names')].map(compact)
  for (const text of texts) index.seenIn(text, seen)
  // A prompt may be cut into many short texts.
  return index.seenIn(texts.filter((text) => text.length < SHORT).join(''), seen)
}
const SHORT = 400

/** A short prompt counts only as the whole text of a user: it may occur in others by chance. */
const saysOne = ({ exchanges }: Sample, prompts: ReadonlySet<string>): boolean =>
  exchanges.some((exchange) => userTexts(exchange).some((text) => prompts.has(compact(text))))

/** Samples that quote a task only together. */
function piecesIn(seen: ReadonlyMap<Sample, ReadonlySet<number>>, quoting: ReadonlySet<Sample>, index: ShingleIndex): readonly Sample[] {
  const others = [...seen].filter(([sample, hashes]) => !quoting.has(sample) && hashes.size > 0)
  const together = new Set(others.flatMap(([, hashes]) => [...hashes]))
  const tasks = [...index.quoted(together, RULE)]
  const isPiece = (hashes: ReadonlySet<number>): boolean =>
    tasks.some((task) => index.ownOf(task, hashes) >= PIECE_SHARE_MIN * index.ownOf(task, together))
  return others.filter(([, hashes]) => isPiece(hashes)).map(([sample]) => sample)
}

/** Every text in a value, or every name of a field. Iterative, since the value may be nested deeper than the call stack. */
export function* textsIn(value: Json, what: 'values' | 'names' = 'values'): Generator<string> {
  const waiting: Json[] = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string' && what === 'values') yield next
    if (typeof next !== 'object' || next === null) continue
    if (what === 'names' && !Array.isArray(next)) yield* Object.keys(next)
    for (const part of Object.values<Json>(next).toReversed()) waiting.push(part)
  }
}
