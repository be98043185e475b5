/** The code of a failed system call. */

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
}

/** Whether there is no file at the path. */
export const isMissing = (error: unknown): boolean => hasCode(error, 'ENOENT', 'ENOTDIR')
