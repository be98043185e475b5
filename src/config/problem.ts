/** All problems of a configuration, one line each: the key, where it stands, and how to fix it. */
import { showHiddenLine } from '../kit/index.ts'

export class ConfigProblem extends Error {
  readonly problems: readonly string[]

  /** A name that the file gives may hold a line end, or anything else that is not seen: it stands there by its number. */
  constructor(problems: readonly string[]) {
    const lines = problems.map(showHiddenLine)
    super(lines.join('\n'))
    this.name = 'ConfigProblem'
    this.problems = lines
  }
}

export type ValueOrigin = 'command line' | `file:${number}` | `environment ${string}` | 'default'

export interface GivenValue {
  readonly path: readonly string[]
  readonly value: unknown
  readonly origin: ValueOrigin
}

/** Where a problem is: file name and line, or the origin. */
export function place(origin: ValueOrigin, fileName: string | null): string {
  return origin.startsWith('file:') && fileName !== null ? `${fileName}:${origin.slice('file:'.length)}` : origin
}
