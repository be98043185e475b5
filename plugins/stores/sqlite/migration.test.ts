/** Older files: what version 1 wrote reads the same in the newest version, and a migration that fails leaves the file to be tried again. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { commit, sequences, steps } from '../../../conformance/store-samples.ts'
import { assertRefused } from '../../../conformance/support.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { change, open, openAndClose, rowsOf } from './testing/stores.ts'

describe('a file of version 1', () => {
  it('keeps what each component consumed, by the first step that did', async () => {
    const directory = versionOne()
    await openAndClose(directory)
    assert.deepEqual(rowsOf(directory, 'SELECT agent_record_id, component, step FROM consumed WHERE scenario = 1'), [
      { agent_record_id: 'x', component: '', step: 1 },
      { agent_record_id: 'x', component: 'p', step: 2 },
      { agent_record_id: 'y', component: '', step: 3 },
    ])
  })
  it('is read and written on like any other', async () => {
    const store = await open(versionOne())
    const scenario = store.scenario('old')
    assert.deepEqual(steps(await scenario.commits({ after: -1, limit: 10 })), [0, 1, 2, 3])
    assert.deepEqual(steps(await scenario.commits({ after: 0, limit: 10, ids: ['x'] })), [1, 2])
    const page = { types: ['inference'], after: 0, limit: 10 } as const
    assert.deepEqual(sequences(await scenario.pending({ ...page, component: '' })), [3])
    assert.deepEqual(sequences(await scenario.pending({ ...page, component: 'p' })), [2, 3])
    await assertRefused('conflict', 'already_consumed', scenario.commit(commit(4, ['y'])))
    await scenario.commit({ ...commit(4, ['y']), component: 'p' })
    assert.deepEqual(await store.verify(() => undefined), [])
  })
  it('has its releases found by their index', async () => {
    const release = { release_id: 'r', parent_release_id: null, content_id: 'c' }
    const more = `INSERT INTO commit_row VALUES
      (1, 4, 'train', 1, '${JSON.stringify(release)}', 0, '[]', '{}', '{}', 'published', NULL, NULL),
      (1, 5, 'rollback', 1, '${JSON.stringify({ ...release, release_id: 's' })}', 0, '[]', '{}', '{}', 'published', 'r', NULL)`
    const scenario = (await open(versionOne(more))).scenario('old')
    assert.equal((await scenario.release('r'))?.step, 4)
    assert.deepEqual(steps(await scenario.chain({ after: -1, limit: 10 })), [4, 5])
    assert.deepEqual(steps(await scenario.chain({ after: -1, limit: 10, only: { target: 'r' } })), [5])
    assert.equal((await scenario.head())?.published?.step, 5)
  })
  it('is migrated once: what it holds then stays as it is', async () => {
    const directory = versionOne()
    const tables = ['scenario', 'record', 'body', 'commit_row', 'consumed']
    const everything = () => tables.map((table) => rowsOf(directory, `SELECT * FROM ${table}`))
    await openAndClose(directory)
    const before = everything()
    await openAndClose(directory)
    assert.deepEqual(everything(), before)
    assert.deepEqual(rowsOf(directory, 'PRAGMA user_version'), [{ user_version: 11 }])
    assert.deepEqual(rowsOf(directory, `SELECT name FROM sqlite_schema WHERE name LIKE '%by_step%'`), [])
  })
  it('may hold rows whose commits were cleared away before them', async () => {
    const directory = versionOne(`INSERT INTO consumed VALUES (2, 'z', 1), (2, 'z', 2)`)
    await openAndClose(directory)
    assert.deepEqual(rowsOf(directory, `SELECT component, step FROM consumed WHERE agent_record_id = 'z'`), [{ component: '', step: 1 }])
  })
  it('stays version 1 when the migration fails half-way, and is migrated once it can be', async () => {
    const directory = versionOne('ALTER TABLE commit_row RENAME TO misplaced')
    await assert.rejects(open(directory), { code: 'storage_failed' })
    assert.deepEqual(rowsOf(directory, 'PRAGMA user_version'), [{ user_version: 1 }])
    assert.equal(rowsOf(directory, 'SELECT scenario, agent_record_id, step FROM consumed').length, 4)
    change(directory, 'ALTER TABLE misplaced RENAME TO commit_row')
    await openAndClose(directory)
    assert.equal(rowsOf(directory, 'SELECT component FROM consumed').length, 3)
  })
})

/** Four steps, the third by a component of its own; x was consumed by three of them. */
function versionOne(more = ''): string {
  const directory = temporaryFolder()
  const records = ['x', 'y', 'n'].map((id, index) => `(1, ${index + 1}, '${id}', 'inference', 1, NULL, NULL, NULL, x'00', NULL)`)
  const commits = ['NULL', 'NULL', `'p'`, 'NULL'].map(
    (component, step) =>
      `(1, ${step}, '${step === 0 ? 'create' : 'train'}', 1, 'null', 0, '[]', '{}', '{}', 'published', NULL, ${component})`,
  )
  change(
    directory,
    `${readFileSync(new URL('./schema/0001.sql', import.meta.url), 'utf8')}
     INSERT INTO scenario (key, name, head) VALUES (1, 'old', 3);
     INSERT INTO record VALUES ${records.join(', ')};
     INSERT INTO commit_row VALUES ${commits.join(', ')};
     INSERT INTO consumed VALUES (1, 'x', 1), (1, 'x', 2), (1, 'x', 3), (1, 'y', 3);
     ${more};
     PRAGMA user_version = 1`,
  )
  return directory
}
