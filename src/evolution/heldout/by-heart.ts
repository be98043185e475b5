/** Finds candidates that know held-out tasks by heart: their texts, or a key of their answers, in any reading. */
import { isObject, type Entry, type Task } from '../../contract/index.ts'
import { AnswerKeys } from './answer-key.ts'
import { isHeldOut, textsIn } from './quoting.ts'
import { readingsOf } from './readings.ts'
import { compact } from '../../kit/index.ts'
import { ShingleIndex, steps, type HeldOutText, type QuoteRule } from './shingles.ts'

/** A rule may quote how tasks of a kind begin, but not most of one. */
const RULE: QuoteRule = { share: 0.8, letters: 120 }

/** What a change learned by heart, or null. What the served tree holds already is not the change's doing. */
export function learnedByHeart(before: readonly Entry[], after: readonly Entry[], tasks: readonly Task[]): string | null {
  const heldOut = tasks.filter(isHeldOut)
  const texts = heldOut.flatMap(textsOf)
  const shown = tasks.filter((task) => !isHeldOut(task)).flatMap(textsOf)
  const index = new ShingleIndex(
    [...texts, ...texts.map(({ task, text }) => ({ task, text, shape: steps }))],
    shown.flatMap(({ text }) => [compact(text), steps(compact(text))]),
  )
  const keys = new AnswerKeys(heldOut, tasks)
  const known = (entries: readonly Entry[]) => {
    const readings = readingsIn(entries)
    const seen = new Set<number>()
    for (const plain of readings.map(compact)) index.seenIn(steps(plain), index.seenIn(plain, seen))
    return { quoted: index.quoted(seen, RULE), key: keys.found(readings) }
  }
  const now = known(after)
  if (now.quoted.size === 0 && !keys.isKey(now.key)) return null
  const old = known(before)
  if ([...now.quoted].some((task) => !old.quoted.has(task))) return 'it holds the text of a held-out task'
  const isMore = now.key.row > old.key.row || now.key.chain > old.key.chain || [...now.key.pairs].some((task) => !old.key.pairs.has(task))
  return isMore && keys.isKey(now.key) ? 'it holds answers of held-out tasks' : null
}

/** Both in the order of the tree and by id, since a text may be split over entries. */
function readingsIn(entries: readonly Entry[]): readonly string[] {
  const texts = entries.map(({ id, config }) => ({
    id,
    text: [...textsIn(config)].join('\n'),
    names: [id, ...textsIn(config, 'names')].join('\n'),
  }))
  const joined = (all: typeof texts): string => [...all.map(({ text }) => text), ...all.map(({ names }) => names)].join('\n')
  const sorted = joined(texts.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
  return [...new Set([joined(texts), sorted].flatMap(readingsOf))]
}

/** What of a task must not be known: its prompt, its answers, what its evaluator expects, and files that hold an answer. */
function textsOf({ name, prompt, files = {}, data = {} }: Task): readonly HeldOutText[] {
  const { verify_files: hidden, evaluator: _, ...expected } = data
  const answers = [...textsIn(data['answer'] ?? null)].map(compact).filter((answer) => answer !== '')
  const holdsAnswer = (text: string): boolean => {
    const plain = compact(text)
    return answers.some((answer) => plain.includes(answer))
  }
  const texts = [
    prompt,
    ...textsIn(expected),
    ...(isObject(hidden) ? Object.values(hidden).filter((text) => typeof text === 'string') : []),
    ...Object.values(files).filter(holdsAnswer),
  ]
  return texts.map((text) => ({ task: name, text }))
}
