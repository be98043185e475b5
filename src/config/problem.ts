/** What is wrong with a configuration: every problem at once, each a line that names the key, its place and the cure. */
export class ConfigProblem extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigProblem'
    this.problems = problems
  }
}

/** Where a value came from. */
export type Origin = 'command line' | `file:${number}` | `environment ${string}` | 'default'

/** One value somebody gave for one key, in the key's own spelling. */
export interface Given {
  readonly path: readonly string[]
  readonly value: unknown
  readonly origin: Origin
}

/** Where a problem stands, for people and editors: the file's name with the line, or the origin's own words. */
export function place(origin: Origin, fileName: string | null): string {
  return origin.startsWith('file:') && fileName !== null ? `${fileName}:${origin.slice('file:'.length)}` : origin
}
