/** Compares edits by the words they add and remove, so that a rephrased idea is not played again. */
import { isObject, type Entry, type Json, type Mutation } from '../../../src/contract/index.ts'

/** From this similarity on, two edits are the same idea. */
const SAME_FROM = 0.8
/** Only the beginning of a text is compared. */
const TEXT_CHARACTERS_READ = 256 * 1024

export const isSameIdea = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean => similarity(one, other) >= SAME_FROM

/** The Jaccard index, from 0 to 1. */
export function similarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = [...one].filter((word) => other.has(word)).length
  const all = one.size + other.size - common
  return all === 0 ? 1 : common / all
}

/** The words that the mutations add or remove. Only changed lines count, since edits of one long page share most lines. */
export function editWords(mutations: readonly Mutation[], entries: readonly Entry[]): ReadonlySet<string> {
  return new Set(
    mutations.flatMap((mutation) =>
      changedWords(
        mutation,
        entries.find(({ id }) => id === mutation.id),
      ),
    ),
  )
}

function changedWords(mutation: Mutation, old: Entry | undefined): readonly string[] {
  const before = new Set(old === undefined ? [] : linesOf(old))
  const after = new Set(mutation.op === 'remove' ? [] : linesOf({ ...(old ?? { config: {} }), ...mutation.options }))
  const taken = [...before].filter((line) => !after.has(line)).flatMap((line) => [...wordsIn(line)].map((word) => `-${word}`))
  return [...[...after].filter((line) => !before.has(line)).flatMap((line) => [...wordsIn(line)]), ...taken]
}

const linesOf = ({ config, disabled }: Pick<Entry, 'config' | 'disabled'>): readonly string[] => [
  ...leavesOf(config),
  ...(disabled === true ? ['disabled true'] : []),
]

/** Every text line by line, other values with their field name. Iterative, since the value may be nested deeper than the call stack. */
function leavesOf(config: Json): readonly string[] {
  const lines: string[] = []
  const waiting: [string, Json][] = [['', config]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [field, value] = next
    if (Array.isArray(value)) for (const item of value) waiting.push([field, item])
    else if (isObject(value)) for (const [name, member] of Object.entries(value)) waiting.push([name, member])
    else if (typeof value === 'string') for (const line of value.split('\n')) lines.push(line)
    else lines.push(`${field} ${JSON.stringify(value)}`)
  }
  return lines
}

export const wordsIn = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .slice(0, TEXT_CHARACTERS_READ)
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [],
  )
