/**
 * The built-in content store: a bare git repository on this machine. When `repository` is a URL, a remote one follows it, or with `shared` is
 * the one that several gateways write to.
 */
import { hash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { define, hasCredentials, invalid, isRemoteRepository, Refusal, unavailable, unsupported } from '../../../src/contract/index.ts'
import type { ContentStore, Json, JsonObject } from '../../../src/contract/index.ts'
import { GitFailure } from '../../../src/git/index.ts'
import { openContents, type Location } from './contents.ts'
import { requireGit } from './process.ts'
import { openSharedContents, type SharedLocation } from './shared.ts'

export default define('contents', {
  async make(config: JsonObject): Promise<ContentStore> {
    const location = readLocation(config)
    await requireGit()
    return (location.isShared ? openSharedContents(location) : openContents(location)).catch((error: unknown) => {
      throw openRefusal(error)
    })
  },
})

const SUPPORTED = /^(?:(?:https?|ssh|file):\/\/|[a-z0-9_][\w.-]*@[a-z0-9[][^/\\]*:)/i

function readLocation({ repository, cache, shared }: JsonObject): Location | SharedLocation {
  if (!isFilled(repository)) throw invalid('bad_repository', 'repository must name a folder or be the URL of a git repository')
  if (!isRemoteRepository(repository)) return { path: resolve(repository), url: null, isShared: false }
  if (!SUPPORTED.test(repository))
    throw unsupported('remote_repository', 'repository is a URL of a kind that is not supported; use https, ssh, file, or user@host:path')
  if (hasCredentials(repository))
    throw invalid('bad_repository', "repository holds credentials; take them out of the URL and use one of git's credential helpers")
  if (!isFilled(cache)) throw invalid('bad_repository', 'repository is a URL, so cache must name the folder in which it is kept here')
  return { path: join(resolve(cache), hash('sha256', repository)), url: repository, isShared: shared === true }
}

const isFilled = (value: Json | undefined): value is string => typeof value === 'string' && value.trim() !== ''

const FULL = /ENOSPC|No space left/
const UNWRITABLE = /EACCES|EPERM|EROFS|ENOTDIR|Permission denied|Read-only file system|Not a directory|(?:ENOENT|EEXIST).{0,80}mkdir/

/** Why the repository cannot be opened: always one line that says what to do. */
function openRefusal(error: unknown): unknown {
  if (error instanceof Refusal || !(error instanceof Error)) return error
  const words = error instanceof GitFailure ? error.stderr : error.message
  if (FULL.test(words))
    return unavailable('repository_full', 'the disk of the artifact repository is full; free space and start again', { cause: error })
  if (UNWRITABLE.test(words)) {
    const cure = 'give its owner write access or set storage.artifact_repository to another folder'
    return unavailable('repository_unwritable', `the artifact repository cannot be written; ${cure}`, { cause: error })
  }
  return error
}
