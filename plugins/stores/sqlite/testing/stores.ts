/** For the tests of this folder: a store in a folder of its own, and its file as SQLite sees it. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { create } from '../../../../conformance/store-samples.ts'
import type { ScenarioStore, Store } from '../../../../src/contract/index.ts'
import { temporaryFolder } from '../../../../test/support/folder.ts'
import { openStore, type StoreOptions } from '../store.ts'

const CAPACITY_BYTES = 1024 * 1024

export const fileIn = (directory: string): string => join(directory, 'records.sqlite3')

/** Closed with the test, if not before. */
export async function open(directory: string, options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await openStore({ directory, capacityBytes: CAPACITY_BYTES, ...options })
  onTestFinished(() => store.close())
  return store
}

export async function fresh(options: Partial<StoreOptions> = {}): Promise<{ directory: string; store: Store; scenario: ScenarioStore }> {
  const directory = temporaryFolder()
  const store = await open(directory, options)
  return { directory, store, scenario: await create(store, 'a') }
}

export const openAndClose = async (directory: string, options: Partial<StoreOptions> = {}): Promise<void> =>
  (await open(directory, options)).close()

export function change(directory: string, sql: string): void {
  const db = new DatabaseSync(fileIn(directory))
  db.exec(sql)
  db.close()
}

export function rowsOf(directory: string, sql: string): unknown[] {
  const db = new DatabaseSync(fileIn(directory), { readOnly: true })
  const rows = db.prepare(sql).all()
  db.close()
  return rows.map((row) => ({ ...row }))
}
