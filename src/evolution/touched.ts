/** What a change touches, told from the trees before and after it: one list of mutations may remove an id and make another entry of it. */
import { isDeepStrictEqual } from 'node:util'
import { NAMED_KINDS, type Adapter, type Entry } from '../contract/index.ts'

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

/** Whether an agent would run what the entry holds: it has code, its adapter makes a program of it, or its text starts programs. */
export const runsCode = (adapter: Adapter, entry: Entry): boolean =>
  typeof entry.config['code'] === 'string' || isProgram(adapter, entry) || runsPrograms(entry)

/** Files that an agent reads and does not run. */
const READ_ALONE = /\.(?:md|mdc|txt|json|jsonc|ya?ml|toml)$/i

/** Told by where the adapter puts it, so that a kind nobody here has heard of counts as code until its adapter shows otherwise. */
function isProgram({ layout }: Adapter, { name }: Entry): boolean {
  const kind = NAMED_KINDS.find((each) => each === name)
  const place = kind === undefined ? undefined : layout.named[kind]
  return place !== undefined && !READ_ALONE.test(place)
}

/** A command or skill whose text runs a program when it is called is code, whatever its kind is called. */
const runsPrograms = ({ name, config: { text } }: Entry): boolean =>
  (name === 'agent_command' || name === 'skill') && typeof text === 'string' && /!`|^\s*```!/m.test(text)
