/** The built-in content store: a bare git repository on this machine, and a remote one that follows it when `repository` is a URL. */
import { define } from '../../../src/contract/index.ts'
import type { ContentStore, JsonObject } from '../../../src/contract/index.ts'
import { openContents } from './contents.ts'
import { readLocation } from './location.ts'
import { requireGit } from './process.ts'
import { openRefusal } from './refusals.ts'

export default define('contents', {
  async make(config: JsonObject): Promise<ContentStore> {
    const location = readLocation(config)
    await requireGit()
    return openContents(location).catch((error: unknown) => {
      throw openRefusal(error)
    })
  },
})
