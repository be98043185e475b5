/** What differs between two trees, entry by entry. */
import { isDeepStrictEqual } from 'node:util'
import type { Entry, Power, PowerReason } from '../../contract/index.ts'

/** One entry in both trees; null where it is not there. */
export interface EntryPair {
  readonly before: Entry | null
  readonly after: Entry | null
}

export function changesBetween(before: readonly Entry[], after: readonly Entry[]): readonly EntryPair[] {
  const [old, now] = [byId(before), byId(after)]
  const keys = [...new Set([...now.keys(), ...old.keys()])]
  return keys
    .map((key) => ({ before: old.get(key) ?? null, after: now.get(key) ?? null }))
    .filter((pair) => !isDeepStrictEqual(contentOf(pair.before), contentOf(pair.after)))
}

/** A tree from elsewhere may hold an id twice: each time it is an entry of its own. */
function byId(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
  const seen = new Map<string, number>()
  return new Map(
    entries.map((entry): [string, Entry] => {
      const count = seen.get(entry.id) ?? 0
      seen.set(entry.id, count + 1)
      return [`${count} ${entry.id}`, entry]
    }),
  )
}

/** Whose an entry is counts too: a release from elsewhere may take a person's name or protection off it. */
const contentOf = (entry: Entry | null): unknown =>
  entry === null ? null : [entry.name, entry.config, entry.disabled === true, isKept(entry), entry.protected === true]

/** An entry without an author is older than authors, or from elsewhere: it may be a person's. */
export const isKept = ({ author = 'person', protected: isProtected }: Entry): boolean => author === 'person' || isProtected === true

/** Names that some file system, or a person, does not tell apart are equal when folded. */
export const folded = (name: string): string => name.normalize('NFKC').toLowerCase()

/** The kind, id and config of an entry, from whichever tree has it. */
export function entryOf({ before, after }: EntryPair): Entry {
  const entry = after ?? before
  if (entry === null) throw new Error('a pair without an entry')
  return entry
}

/** What the version before counts for: a text is new to the agent when its entry is enabled, or becomes one of another kind. */
export function baselineOf({ before, after }: EntryPair): Entry | null {
  if (before === null || after === null) return before
  return (before.disabled === true && after.disabled !== true) || before.name !== after.name ? null : before
}

/** What is not known has every power; `words` is none, and `removes` follows from comparing trees. */
const EVERY_POWER: readonly Power[] = ['orders', 'hidden', 'reads', 'runs', 'grants', 'reaches']

/** A reason for each power that is listed, or for every power where nothing is listed. */
export function reasonsFor(listed: readonly Power[] | undefined, entry: string, what: string): readonly PowerReason[] {
  if (listed === undefined) return EVERY_POWER.map((power) => ({ power, entry, why: `${what}, of which nothing is known` }))
  return listed.filter((power) => power !== 'words').map((power) => ({ power, entry, why: what }))
}
