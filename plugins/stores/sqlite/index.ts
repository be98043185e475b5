/**
 * Records and commits in one SQLite database, durable before they are acknowledged.
 * Config: `directory`, where the files lie; `capacity_bytes`, how many bytes of bodies are kept before the oldest go; `search`, whether an
 * index of their words is kept; `encrypt`, whether bodies are encrypted, and `secret_key`, with what.
 */
import { define, invalid, RECORD_CAPACITY_BYTES_DEFAULT, type JsonObject } from '../../../src/contract/index.ts'
import { readSealSettings } from '../common/seal.ts'
import { forgetTag } from './forgetting/forget.ts'
import { joinStore, openStore } from './store.ts'

export default define('store', {
  make(config: JsonObject) {
    const seal = readSealSettings(config)
    const { directory, capacity_bytes = RECORD_CAPACITY_BYTES_DEFAULT, search = !seal.encrypts } = config
    if (typeof directory !== 'string' || directory === '') {
      throw invalid('store_config', 'directory must be the path of the folder that holds the records')
    }
    if (typeof capacity_bytes !== 'number' || !(capacity_bytes >= 0)) {
      throw invalid('store_config', 'capacity_bytes must be a number of bytes, 0 or more')
    }
    if (typeof search !== 'boolean') throw invalid('store_config', 'search must be true or false; false keeps no index of the words')
    if (search && seal.encrypts) {
      throw invalid('store_config', 'search must be false where bodies are encrypted, since the index would hold their words; leave it out')
    }
    return openStore({ directory, capacityBytes: capacity_bytes, isSearched: search, ...seal })
  },
  join: joinStore,
  encrypts: true,
  forget(config, order) {
    const { directory } = config
    if (typeof directory !== 'string') throw invalid('store_config', 'directory must be the path of the folder that holds the records')
    return forgetTag(directory, readSealSettings(config), order)
  },
})
