/** What `repository` names: a folder of this machine, or a remote and the folder in which it is kept here. */
import { hash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { hasCredentials, invalid, isRemoteRepository, unsupported } from '../../../src/contract/index.ts'
import type { Json, JsonObject } from '../../../src/contract/index.ts'

const SUPPORTED = /^(?:(?:https?|ssh|file):\/\/|[a-z0-9_][\w.-]*@[a-z0-9[][^/\\]*:)/i

export interface Location {
  /** The bare repository on this machine. */
  readonly path: string
  /** The repository that follows it, or null. */
  readonly url: string | null
}

export function readLocation({ repository, cache }: JsonObject): Location {
  if (!isFilled(repository)) throw invalid('bad_repository', 'repository must name a folder or be the URL of a git repository')
  if (!isRemoteRepository(repository)) return { path: resolve(repository), url: null }
  if (!SUPPORTED.test(repository))
    throw unsupported('remote_repository', 'repository is a URL of a kind that is not supported; use https, ssh, file, or user@host:path')
  if (hasCredentials(repository))
    throw invalid('bad_repository', "repository holds credentials; take them out of the URL and use one of git's credential helpers")
  if (!isFilled(cache)) throw invalid('bad_repository', 'repository is a URL, so cache must name the folder in which it is kept here')
  return { path: join(resolve(cache), hash('sha256', repository)), url: repository }
}

const isFilled = (value: Json | undefined): value is string => typeof value === 'string' && value.trim() !== ''
