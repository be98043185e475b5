/** Who wrote the entries of a changed tree. */
import { isDeepStrictEqual } from 'node:util'
import type { Entry, EntryAuthor } from '../contract/index.ts'
import { isKept } from './powers/change.ts'
import { plainEntry } from './tree.ts'

/** The tree with the author of each change. A person's entry stays theirs, also removed and created again, and so does its protection. */
export function authored(before: readonly Entry[], after: readonly Entry[], author: EntryAuthor): readonly Entry[] {
  const old = new Map(before.map((entry) => [entry.id, entry]))
  return after.map((entry) => {
    const was = old.get(entry.id)
    if (was !== undefined && isDeepStrictEqual(plainEntry(was), plainEntry(entry))) return entry
    const isTheirs = was !== undefined && isKept(was)
    return plainEntry({ ...entry, author: isTheirs ? 'person' : author, protected: was?.protected === true })
  })
}
