/** What the runner asks of an oracle: a trial that endures kills, and what it found broken. */

export interface Violation {
  readonly rule: string
  readonly detail: string
}

export const violation = (rule: string, detail: string): Violation => ({ rule, detail })

export interface CrashOptions {
  readonly seed: string
  readonly kills: number
  readonly short: boolean
  readonly delays: number
  readonly only: string
  /** Threads that take requests. */
  readonly listeners: number
}

export interface Oracle {
  readonly kills: number
  readonly shortKills: number
  open(directory: string, options: CrashOptions): Promise<Trial>
}

export interface Trial {
  readonly kills: number
  endure(say: (line: string) => void): Promise<readonly Violation[]>
  outcome(): object
  /** One line about what was endured. */
  summary(): string
}
