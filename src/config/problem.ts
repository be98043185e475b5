/** All problems of a configuration, one line each: the key, where it stands, and how to fix it. */
export class ConfigProblem extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigProblem'
    this.problems = problems
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
