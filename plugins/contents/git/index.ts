/** The built-in content store: a bare git repository on this machine, named by `repository`. */
import { resolve } from 'node:path'
import { define, invalid, unsupported } from '../../../src/contract/index.ts'
import type { ContentStore, JsonObject } from '../../../src/contract/index.ts'
import { openContents } from './contents.ts'
import { requireGit } from './process.ts'
import { openRefusal } from './refusals.ts'

export default define('contents', {
  async make(config: JsonObject): Promise<ContentStore> {
    const repository = localPath(config['repository'])
    await requireGit()
    return openContents(repository).catch((error: unknown) => {
      throw openRefusal(error)
    })
  },
})

function localPath(repository: JsonObject[string] | undefined): string {
  if (typeof repository !== 'string' || repository.trim() === '') throw invalid('bad_repository', 'repository must name a folder')
  if (isRemote(repository)) throw unsupported('remote_repository', 'repository is a url; only a repository on this machine is supported')
  return resolve(repository)
}

/** `scheme://…`, or `user@host:path` as ssh takes it. */
const isRemote = (repository: string): boolean => /^(?:[a-z][a-z0-9+.-]*:\/\/|[^/\\]+@[^/\\]+:)/i.test(repository)
