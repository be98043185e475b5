/** The line that a command prints when it stops; it ends with what to do next. */
import { Failure } from '@svc-ai/client/shared'

/** Something must change before the command can go on. */
export class Stop extends Failure {
  override readonly name = 'Stop'
}

/** Null for what is a bug and deserves its stack. */
export function lineOf(error: unknown): string | null {
  if (error instanceof Failure) return error.message
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return null
  const place = placeIn(error)
  switch (error.code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return `there is no room left to write ${place}; free some and run the same command again`
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `you may not read or write ${place}; change that and run the same command again`
    case 'ENOTDIR':
    case 'EISDIR':
    case 'EEXIST':
    case 'ENOTEMPTY':
      return `${place} is in the way; move it away or name another folder, and run the same command again`
    default:
      return `${error.message}; run the same command again`
  }
}

export const wordsOf = (error: unknown): string => lineOf(error) ?? (error instanceof Error ? error.message : String(error))

/** Of a rename the name that was wanted, not the one it was written under. */
function placeIn(error: object): string {
  if ('dest' in error && typeof error.dest === 'string') return error.dest
  return 'path' in error && typeof error.path === 'string' ? error.path : 'a file'
}

export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)

/** For `catch`: null for a failure with one of these codes; any other is thrown on. */
export const ignoring =
  (...codes: readonly string[]) =>
  (error: unknown): null => {
    if (hasCode(error, ...codes)) return null
    throw error
  }

/** For `catch`: null for a path that does not exist. */
export const ifAbsent = ignoring('ENOENT', 'ENOTDIR')
