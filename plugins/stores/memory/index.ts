/**
 * Records and commits in memory, for tests and for trying things out: everything the durable store promises, until the process ends.
 * Config: `capacity_bytes`, how many bytes of bodies are kept before the oldest go.
 */
import { define, invalid, RECORD_CAPACITY_BYTES_DEFAULT, type JsonObject } from '../../../src/contract/index.ts'
import { MemoryStore } from './store.ts'

export default define('store', {
  make(config: JsonObject) {
    const { capacity_bytes = RECORD_CAPACITY_BYTES_DEFAULT } = config
    if (typeof capacity_bytes !== 'number' || !(capacity_bytes >= 0)) {
      throw invalid('store_config', 'capacity_bytes must be a number of bytes, 0 or more')
    }
    return new MemoryStore(capacity_bytes)
  },
})
