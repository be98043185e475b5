/** Opening: what is refused, with which word, and that a refused store stays as it was. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, it } from 'vitest'
import type { JsonObject } from '../../../src/contract/index.ts'
import sqlite from './index.ts'

const root = mkdtempSync(join(tmpdir(), 'store-'))
const folder = () => mkdtempSync(join(root, 'case-'))
const make = async (config: JsonObject) => sqlite.plugin.make(config)

afterAll(() => rmSync(root, { recursive: true, force: true }))

describe('opening', () => {
  it('makes the directory when there is none', async () => {
    const store = await make({ directory: join(folder(), 'a', 'b') })
    assert.deepEqual(await store.scenarios(), [])
    await store.close()
  })
  it('refuses a store of a newer version and leaves it as it is', async () => {
    const directory = folder()
    await make({ directory }).then((store) => store.close())
    const path = join(directory, 'records.sqlite3')
    const db = new DatabaseSync(path)
    db.exec('PRAGMA user_version = 99')
    db.close()
    const before = readFileSync(path)
    await assert.rejects(make({ directory }), { code: 'newer_store', kind: 'unavailable', message: /format 99.*up to 4/ })
    assert.deepEqual(readFileSync(path), before)
    assert.deepEqual(readdirSync(directory), ['records.lock', 'records.sqlite3'])
  })
  it('refuses a file that is no database and leaves it as it is', async () => {
    const directory = folder()
    const path = join(directory, 'records.sqlite3')
    writeFileSync(path, 'not a database, but long enough to be one '.repeat(200))
    const before = readFileSync(path)
    await assert.rejects(make({ directory }), { code: 'store_damaged', message: /restore it from a backup/ })
    assert.deepEqual(readFileSync(path), before)
  })
  it('refuses a directory it cannot write', async () => {
    const file = join(folder(), 'file')
    writeFileSync(file, '')
    await assert.rejects(make({ directory: join(file, 'records') }), { code: 'directory_unwritable' })
  })
  it('refuses a second store on the same directory, also in the same process, until the first is closed', async () => {
    const directory = folder()
    const first = await make({ directory })
    await assert.rejects(make({ directory }), { code: 'store_in_use' })
    await first.close()
    const second = await make({ directory })
    await second.close()
  })
  it('a refusal names no path of this machine', async () => {
    const directory = folder()
    writeFileSync(join(directory, 'records.sqlite3'), 'x'.repeat(10_000))
    await assert.rejects(make({ directory }), (error: Error) => !error.message.includes(root))
  })
  it('refuses a config it cannot use, naming the key', async () => {
    await assert.rejects(make({}), { kind: 'invalid', message: /directory/ })
    await assert.rejects(make({ directory: folder(), capacity_bytes: -1 }), { kind: 'invalid', message: /capacity_bytes/ })
    await assert.rejects(make({ directory: folder(), capacity_bytes: 'much' }), { kind: 'invalid', message: /capacity_bytes/ })
  })
  it('leaves the database whole in one file, with the log written back, when it closes', async () => {
    const directory = folder()
    await make({ directory }).then((store) => store.close())
    assert.deepEqual(readdirSync(directory), ['records.lock', 'records.sqlite3'])
    const db = new DatabaseSync(join(directory, 'records.sqlite3'), { readOnly: true })
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok')
    db.close()
  })
})
