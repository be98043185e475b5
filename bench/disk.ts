/** What a database takes on the disk. */

import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Without its free pages, which are used again. */
export function usedBytes(path: string): number {
  const db = new DatabaseSync(path, { readOnly: true })
  const free = Number(db.prepare('PRAGMA freelist_count').get()?.['freelist_count'])
  const page = Number(db.prepare('PRAGMA page_size').get()?.['page_size'])
  db.close()
  return statSync(path).size - free * page
}
