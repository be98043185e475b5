/** Archiving: what the export holds, and that a crash at any point leaves the scenario whole in exactly one place. */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { HOUSEKEEPING_ROWS_PER_TURN } from '../../../../src/contract/index.ts'
import { bytes, commit, create, record, sequences, steps } from '../../../../conformance/store-samples.ts'
import { temporaryFolder } from '../../../../test/support/folder.ts'
import { until } from '../../../../test/support/wait.ts'
import { change, fileIn, open, rowsOf } from '../testing/stores.ts'

const MANY = 2 * HOUSEKEEPING_ROWS_PER_TURN + 10

describe('the export', () => {
  it('is named for the hash of the name and the time, and opens as a store that holds everything', async () => {
    const { directory, archive, rows } = await archived()
    assert.match(archive, /^archived\/[0-9a-f]{64}-\d{8}T\d{6}Z-[0-9a-f]{8}\.sqlite3$/)
    const elsewhere = temporaryFolder()
    copyFileSync(join(directory, archive), fileIn(elsewhere))
    const store = await open(elsewhere)
    const scenario = store.scenario('gone')
    assert.deepEqual(await store.scenarios(), ['gone'])
    assert.deepEqual(await scenario.records({ after: 0, limit: MANY }), rows)
    assert.equal(Buffer.from((await scenario.get('r7'))?.payload ?? []).toString(), '{"n":7}')
    assert.deepEqual(steps(await scenario.commits({ after: 0, limit: 10, ids: ['r1'] })), [1, 2])
    const page = { types: ['inference'], after: 0, limit: MANY } as const
    assert.deepEqual(sequences(await scenario.pending({ ...page, component: '' })), sequences(rows.toSpliced(1, 1)))
    assert.deepEqual(await scenario.pending({ ...page, component: 'other' }), [])
    assert.deepEqual(await store.verify(() => undefined), [])
  })
  it('its rows leave the store in turns, and the room is used again', async () => {
    const { directory } = await archived()
    const store = await open(directory)
    await cleared(directory)
    assert.equal((await store.usage()).records, 1)
    await store.close()
    assert.deepEqual(counts(directory), { record: 1, body: 1, commit_row: 1, consumed: 0 })
  })
  it('the rows of every scenario that is archived while the store is open leave it, also after a time in which none was', async () => {
    const directory = temporaryFolder()
    const store = await open(directory)
    for (const name of ['one', 'other', 'one']) {
      await create(store, name)
      await store.scenario(name).append([record('r1')])
      await store.archive(name)
      await cleared(directory)
      assert.equal((await store.usage()).records, 0)
    }
  })
})

describe('a crash', () => {
  it('during the export leaves the scenario live and takes the export away', async () => {
    const directory = await filled()
    mkdirSync(join(directory, 'archived'))
    const export_ = join('archived', 'half.sqlite3')
    for (const name of [export_, `${export_}.unfinished`, join('archived', 'of-someone-else.sqlite3')])
      writeFileSync(join(directory, name), '')
    change(directory, `UPDATE scenario SET archive = '${export_}' WHERE name = 'gone'`)
    const store = await open(directory)
    assert.deepEqual(readdirSync(join(directory, 'archived')), ['of-someone-else.sqlite3'])
    assert.equal((await store.scenario('gone').append([record('new')])).rows[0]?.sequence, MANY + 1)
  })
  it('after the mark leaves it archived, and its rows go at the next open', async () => {
    const directory = await filled()
    change(directory, `UPDATE scenario SET archive = 'archived/x', archived_name = name, name = NULL WHERE name = 'gone'`)
    const store = await open(directory)
    assert.deepEqual(await store.scenarios(), ['stays'])
    await create(store, 'gone')
    await cleared(directory)
    await store.close()
    assert.deepEqual(counts(directory), { record: 1, body: 1, commit_row: 2, consumed: 0 })
  })
})

describe('an export that fails', () => {
  it('leaves the scenario as it was and open for records', async () => {
    const directory = await filled()
    writeFileSync(join(directory, 'archived'), 'a file where the folder should be')
    const store = await open(directory)
    await assert.rejects(store.archive('gone'), { kind: 'unavailable' })
    assert.deepEqual(await store.scenarios(), ['gone', 'stays'])
    assert.equal((await store.scenario('gone').append([record('new')])).rows[0]?.sequence, MANY + 1)
  })
})

async function filled(): Promise<string> {
  const directory = temporaryFolder()
  const store = await open(directory)
  const scenario = await create(store, 'gone')
  const ids = Array.from({ length: MANY }, (_, index) => `r${index}`)
  await scenario.append(ids.map((id, index) => record(id, { payload: bytes(`{"n":${index}}`) })))
  await scenario.commit(commit(1, ['r1']))
  await scenario.commit({ ...commit(2, ids), component: 'other' })
  await create(store, 'stays').then((stays) => stays.append([record('1')]))
  await store.close()
  return directory
}

async function archived() {
  const directory = await filled()
  const store = await open(directory)
  const rows = await store.scenario('gone').records({ after: 0, limit: MANY })
  const archive = await store.archive('gone')
  assert.ok(existsSync(join(directory, archive)))
  await store.close()
  return { directory, archive, rows }
}

const counts = (directory: string): Record<string, number> =>
  Object.fromEntries(
    ['record', 'body', 'commit_row', 'consumed'].map((table) => [table, rowsOf(directory, `SELECT 1 FROM ${table}`).length]),
  )

/** The removal goes on in the background and reports nothing. */
const cleared = (directory: string): Promise<void> =>
  until(() => rowsOf(directory, 'SELECT 1 FROM scenario WHERE name IS NULL AND cleared = 0').length === 0)
