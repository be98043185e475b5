/** Which words an edit brings and takes, so that the same idea in other clothes is known again before anybody pays to play it. */
import { isObject, type Entry, type Json, type Mutation } from '../../../src/contract/index.ts'

/** Edits that share so much of their words are one idea. */
const SAME_FROM = 0.8
/** Words beyond these are not compared: a text is known by its beginning. */
const TEXT_CHARACTERS_READ = 256 * 1024

export const isSameIdea = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean => similarity(one, other) >= SAME_FROM

/** From 0, nothing in common, to 1, the same words. */
export function similarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = [...one].filter((word) => other.has(word)).length
  const all = one.size + other.size - common
  return all === 0 ? 1 : common / all
}

/**
 * What the mutations change of these entries, as words. Only the lines that differ count: two edits of one long page are alike in all but what
 * matters. Empty when nothing changes.
 */
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

/** Every text of the value line by line, everything else with the name of its field. Without recursion: it may be nested as deep as JSON can be. */
function leavesOf(config: Json): readonly string[] {
  const lines: string[] = []
  const waiting: [string, Json][] = [['', config]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [field, value] = next
    if (Array.isArray(value)) for (const item of value) waiting.push([field, item])
    else if (isObject(value)) for (const [name, member] of Object.entries(value)) waiting.push([name, member])
    else if (typeof value === 'string') lines.push(...value.split('\n'))
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
