/** The entries that a change touches, by comparing the trees before and after it: mutations may remove an id and create it again. */
import { isDeepStrictEqual } from 'node:util'
import { NAMED_KINDS, type Adapter, type Entry } from '../contract/index.ts'

export interface Touched {
  readonly before: readonly Entry[]
  readonly after: readonly Entry[]
}

export function touchedEntries(before: readonly Entry[], after: readonly Entry[]): Touched {
  return { before: missingIn(after, before), after: missingIn(before, after) }
}

function missingIn(tree: readonly Entry[], entries: readonly Entry[]): readonly Entry[] {
  const there = new Map(tree.map((entry) => [entry.id, entry]))
  return entries.filter((entry) => !isDeepStrictEqual(there.get(entry.id), entry))
}

/** Whether an agent would run the entry: it has code, its file is a program, or its text starts programs. */
export const runsCode = (adapter: Adapter, entry: Entry): boolean =>
  typeof entry.config['code'] === 'string' || isProgram(adapter, entry) || runsPrograms(entry)

/** Files that an agent reads and does not run. */
const DATA_FILE = /\.(?:md|mdc|txt|json|jsonc|ya?ml|toml)$/i

/** Decided by the file's extension, so that an unknown kind counts as code unless its adapter renders it as data. */
function isProgram({ layout }: Adapter, { name }: Entry): boolean {
  const kind = NAMED_KINDS.find((each) => each === name)
  const place = kind === undefined ? undefined : layout.named[kind]
  return place !== undefined && !DATA_FILE.test(place)
}

/** A command or skill whose text runs a program counts as code. */
const runsPrograms = ({ name, config: { text } }: Entry): boolean =>
  (name === 'agent_command' || name === 'skill') && typeof text === 'string' && /!`|^\s*```!/m.test(text)
