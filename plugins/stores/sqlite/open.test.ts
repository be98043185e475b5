/** Opening: what is refused, with which word, and that a refused store stays as it was. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import type { JsonObject } from '../../../src/contract/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { startWriterAhead } from './ahead.ts'
import sqlite from './index.ts'
import { change, fileIn, openAndClose, rowsOf } from './testing/stores.ts'

const make = async (config: JsonObject) => sqlite.plugin.make(config)

describe('opening', () => {
  it('makes the directory when there is none', async () => {
    const store = await make({ directory: join(temporaryFolder(), 'a', 'b') })
    assert.deepEqual(await store.scenarios(), [])
    await store.close()
  })
  it('takes the writer that was started ahead, once', async () => {
    let threads = 0
    const onThread = () => void (threads += 1)
    process.on('worker', onThread)
    startWriterAhead()
    startWriterAhead()
    const store = await make({ directory: temporaryFolder() })
    assert.equal(threads, 1)
    await store.close()
    await openAndClose(temporaryFolder())
    assert.equal(threads, 2)
    process.off('worker', onThread)
  })
  it('refuses a store of a newer version and leaves it as it is', async () => {
    const directory = temporaryFolder()
    await openAndClose(directory)
    change(directory, 'PRAGMA user_version = 99')
    const path = fileIn(directory)
    const before = readFileSync(path)
    await assert.rejects(make({ directory }), { code: 'newer_store', kind: 'unavailable', message: /format 99.*up to \d+;/ })
    assert.deepEqual(readFileSync(path), before)
    assert.deepEqual(readdirSync(directory), ['records.lock', 'records.sqlite3'])
  })
  it('refuses a file that is no database and leaves it as it is', async () => {
    const directory = temporaryFolder()
    const path = fileIn(directory)
    writeFileSync(path, 'not a database, but long enough to be one '.repeat(200))
    const before = readFileSync(path)
    await assert.rejects(make({ directory }), { code: 'store_damaged', message: /restore it from a backup/ })
    assert.deepEqual(readFileSync(path), before)
  })
  it('refuses a directory it cannot write', async () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    await assert.rejects(make({ directory: join(file, 'records') }), { code: 'directory_unwritable' })
  })
  it('refuses a second store on the same directory, also in the same process, until the first is closed', async () => {
    const directory = temporaryFolder()
    const first = await make({ directory })
    await assert.rejects(make({ directory }), { code: 'store_in_use' })
    await first.close()
    await openAndClose(directory)
  })
  it('a refusal names no path of this machine', async () => {
    const directory = temporaryFolder()
    writeFileSync(fileIn(directory), 'x'.repeat(10_000))
    await assert.rejects(make({ directory }), (error: Error) => !error.message.includes(directory))
  })
  it('refuses a config it cannot use, naming the key', async () => {
    await assert.rejects(make({}), { kind: 'invalid', message: /directory/ })
    await assert.rejects(make({ directory: temporaryFolder(), capacity_bytes: -1 }), { kind: 'invalid', message: /capacity_bytes/ })
    await assert.rejects(make({ directory: temporaryFolder(), capacity_bytes: 'much' }), { kind: 'invalid', message: /capacity_bytes/ })
  })
  it('leaves the database whole in one file, with the log written back, when it closes', async () => {
    const directory = temporaryFolder()
    await openAndClose(directory)
    assert.deepEqual(readdirSync(directory), ['records.lock', 'records.sqlite3'])
    assert.deepEqual(rowsOf(directory, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
  })
})
