/** The code of a failed system call. */

export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = codeOf(error)
  return code !== null && codes.includes(code)
}

/** Whether there is no file at the path. */
export const isMissing = (error: unknown): boolean => hasCode(error, 'ENOENT', 'ENOTDIR')
