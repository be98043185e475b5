/** Which keys the store needs: told before anything is served, and kept so that an opening need not read the bodies. */
import type { DatabaseSync } from 'node:sqlite'
import { missingKey, type StoreSeal } from '../common/seal.ts'
import { Query } from './query.ts'

/** Refuses a store of which a part could not be read. A key that nothing needs any longer is forgotten. */
export function settleKeys(db: DatabaseSync, seal: StoreSeal): void {
  const isNeeded = new Query(db, 'SELECT 1 FROM body WHERE sealed = 1 AND substr(payload, 2, 4) = unhex(?) LIMIT 1')
  for (const { id } of new Query<{ id: string }>(db, 'SELECT id FROM seal_key').all()) {
    if (seal.knows(id)) continue
    if (isNeeded.first(id) !== undefined) throw missingKey(id)
    db.prepare('DELETE FROM seal_key WHERE id = ?').run(id)
  }
  if (seal.writesWith !== null) db.prepare('INSERT INTO seal_key (id) VALUES (?) ON CONFLICT DO NOTHING').run(seal.writesWith)
}
