/** What a change touches, told from the trees before and after it: one list of mutations may remove an id and make another entry of it. */
import { isDeepStrictEqual } from 'node:util'
import type { Entry } from '../contract/index.ts'

export interface Touched {
  /** As they were. */
  readonly before: readonly Entry[]
  /** As they will be. */
  readonly after: readonly Entry[]
}

export function touchedEntries(before: readonly Entry[], after: readonly Entry[]): Touched {
  return { before: missingIn(after, before), after: missingIn(before, after) }
}

function missingIn(tree: readonly Entry[], entries: readonly Entry[]): readonly Entry[] {
  const there = new Map(tree.map((entry) => [entry.id, entry]))
  return entries.filter((entry) => !isDeepStrictEqual(there.get(entry.id), entry))
}

const CODE_KINDS: ReadonlySet<string> = new Set(['code_extension', 'native_tool', 'native_hook', 'native_loop'])

export const runsCode = (entry: Entry): boolean => CODE_KINDS.has(entry.name) || runsPrograms(entry)

/** A command or skill whose text runs a program when it is called is code, whatever its kind is called. */
export const runsPrograms = ({ name, config: { text } }: Entry): boolean =>
  (name === 'agent_command' || name === 'skill') && typeof text === 'string' && /!`|^\s*```!/m.test(text)
