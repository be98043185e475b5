/** The content store for several services: a bucket of S3 or of a server that speaks as it does, with a copy on this machine. */
import { hash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { define, invalid, type ContentStore, type JsonObject, type ObjectFolder } from '../../../src/contract/index.ts'
import { Bucket } from './bucket.ts'
import { openContents } from './contents.ts'
import { readSettings } from './settings.ts'

export default define('contents', {
  objects(config: JsonObject): ObjectFolder {
    const bucket = new Bucket(readSettings(config), config)
    return {
      get: (name) => bucket.get(name),
      create: (name, bytes) => bucket.put(name, bytes, { kind: 'absent' }),
      replace: (name, bytes, tag) => bucket.put(name, bytes, { kind: 'unchanged', tag }),
      close: () => bucket.close(),
    }
  },
  async make(config: JsonObject): Promise<ContentStore> {
    const settings = readSettings(config)
    const { cache } = config
    if (typeof cache !== 'string' || cache.trim() === '')
      throw invalid('bad_repository', 'repository is a bucket, so cache must name the folder in which a copy of it is kept here')
    const bucket = new Bucket(settings, config)
    try {
      return await openContents(bucket, join(resolve(cache), hash('sha256', `${settings.address}/${settings.prefix}`)), settings.cacheBytes)
    } catch (error) {
      await bucket.close()
      throw error
    }
  },
})
