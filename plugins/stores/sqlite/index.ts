/**
 * Records and commits in one SQLite database, durable before they are acknowledged.
 * Config: `directory`, where the files lie; `capacity_bytes`, how many bytes of bodies are kept before the oldest go; `search`, whether an
 * index of their words is kept.
 */
import { define, invalid, RECORD_CAPACITY_BYTES_DEFAULT, type JsonObject } from '../../../src/contract/index.ts'
import { forgetTag } from './forget.ts'
import { joinStore, openStore } from './store.ts'

export default define('store', {
  make(config: JsonObject) {
    const { directory, capacity_bytes = RECORD_CAPACITY_BYTES_DEFAULT, search = true } = config
    if (typeof directory !== 'string' || directory === '') {
      throw invalid('store_config', 'directory must be the path of the folder that holds the records')
    }
    if (typeof capacity_bytes !== 'number' || !(capacity_bytes >= 0)) {
      throw invalid('store_config', 'capacity_bytes must be a number of bytes, 0 or more')
    }
    if (typeof search !== 'boolean') throw invalid('store_config', 'search must be true or false; false keeps no index of the words')
    return openStore({ directory, capacityBytes: capacity_bytes, isSearched: search })
  },
  join: joinStore,
  forget({ directory }, order) {
    if (typeof directory !== 'string') throw invalid('store_config', 'directory must be the path of the folder that holds the records')
    return forgetTag(directory, order)
  },
})
