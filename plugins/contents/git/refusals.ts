/** Why the repository cannot be opened, in the words of the contract: always one line that says what to do. */
import { invalid, Refusal, unavailable } from '../../../src/contract/index.ts'
import { GitError } from './process.ts'

const FULL = /ENOSPC|No space left/
const UNWRITABLE = /EACCES|EPERM|EROFS|ENOTDIR|Permission denied|Read-only file system|Not a directory/

export function openRefusal(error: unknown): unknown {
  if (error instanceof Refusal || !(error instanceof Error)) return error
  const words = error instanceof GitError ? error.stderr : error.message
  if (FULL.test(words))
    return unavailable('repository_full', 'the disk of the artifact repository is full; free space and start again', { cause: error })
  if (UNWRITABLE.test(words)) {
    const cure = 'give its owner write access or set storage.artifact_repository to another folder'
    return unavailable('repository_unwritable', `the artifact repository cannot be written; ${cure}`, { cause: error })
  }
  return error
}

export const notARepository = (): Refusal =>
  invalid(
    'bad_repository',
    'this is not a bare git repository; set storage.artifact_repository to one, or to a folder that does not exist yet',
  )
