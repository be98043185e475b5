import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, it } from 'vitest'
import { storeConformance } from '../../../conformance/store.ts'
import type { Store } from '../../../src/contract/index.ts'
import sqlite from './index.ts'

const root = mkdtempSync(join(tmpdir(), 'store-'))
const configs = new WeakMap<Store, { directory: string; capacity_bytes: number }>()

afterAll(() => rmSync(root, { recursive: true, force: true }))

async function open(config: { directory: string; capacity_bytes: number }): Promise<Store> {
  const store = await sqlite.plugin.make(config)
  configs.set(store, config)
  return store
}

storeConformance({
  describe,
  it,
  make: (capacity_bytes) => open({ directory: mkdtempSync(join(root, 'case-')), capacity_bytes }),
  async reopen(store) {
    await store.close()
    const config = configs.get(store)
    if (config === undefined) throw new Error('not a store of this test')
    return open(config)
  },
})
