/** The entries of a harness as the original writes them. What it ships itself counts as ours: it gets the ids of what this service ships. */
import { RESERVED_ENTRIES, type Entry, type Json } from '../../contract/index.ts'
import { entriesFrom } from '../../harness/index.ts'

/** Null when the value is not a list of entries. */
export function entriesThere(value: Json | undefined): readonly Entry[] | null {
  return entriesFrom(value)?.map((entry) => ({ ...entry, id: OURS.get(entry.id) ?? entry.id })) ?? null
}

const OURS: ReadonlyMap<string, string> = new Map(RESERVED_ENTRIES.map((id) => [id.replace('svc-', 'reef-'), id]))
