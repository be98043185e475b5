/**
 * Records and commits in PostgreSQL, which several services share.
 * Config: `url`, the address of the database; `schema`, where the tables lie in it; `connections`, how many are used at once besides the one
 * that listens and those of the search; `capacity_bytes`, how many bytes of bodies are kept before the oldest go; `search`, whether an index
 * of their words is kept; `encrypt`, whether bodies are encrypted, and `secret_key`, with what.
 */
import { define } from '../../../src/contract/index.ts'
import { readSettings } from './settings.ts'
import { joinStore, openStore } from './store.ts'

export default define('store', {
  make: (config) => openStore(readSettings(config)),
  join: joinStore,
  encrypts: true,
  async forget(config, order) {
    const store = await openStore(readSettings(config))
    try {
      return await store.forget(order)
    } finally {
      await store.close()
    }
  },
})
