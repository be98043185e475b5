/** The audit as SQLite sees it. */
import assert from 'node:assert/strict'
import { it } from 'vitest'
import { entry, make, token } from '../../../conformance/store-deployment.ts'
import { change, fresh, openAndClose, rowsOf } from './testing/stores.ts'

it('a row of the audit cannot be changed or removed, whoever has the file open', async () => {
  const { directory, store } = await fresh()
  await make(store.deployment, token('a'))
  await store.deployment.addAudit(entry('other'))
  await store.close()
  for (const sql of [`UPDATE audit SET entry = '{}'`, 'DELETE FROM audit WHERE sequence = 1', 'DELETE FROM audit'])
    assert.throws(() => change(directory, sql), /append-only/)
  await openAndClose(directory)
  assert.deepEqual(rowsOf(directory, 'SELECT sequence, id FROM audit'), [
    { sequence: 1, id: 'make a' },
    { sequence: 2, id: 'other' },
  ])
})
