/** When the service is killed: some time into its start, or some time after something happened for the nth time. */
import type { Victim } from './child.ts'
import type { Random } from './random.ts'

export interface Kill {
  readonly who: Victim
  /** The event that is counted; 'starting' for the start itself. */
  readonly when: string
  /** 0 for a kill while the service starts. */
  readonly count: number
  readonly afterMs: number
}

export const drawVictim = (random: Random): Victim => random.pick<Victim>(['service', 'family'])

export function describe({ who, when, count, afterMs }: Kill): string {
  if (count === 0) return `(${who}) ${afterMs} ms into its start`
  return `(${who}) ${afterMs} ms after the ${count}. ${when}`
}

/** Counts events and resolves when the moment has come. */
export class Trigger {
  readonly #kill: Kill
  readonly #reached = Promise.withResolvers<void>()
  /** Set before the kill: from then on an answer may break off. */
  isOver = false
  #seen = 0

  constructor(kill: Kill) {
    this.#kill = kill
    if (kill.count === 0) this.#later()
  }

  happened(what: string): void {
    if (this.#kill.when !== what) return
    this.#seen += 1
    if (this.#seen === this.#kill.count) this.#later()
  }

  #later(): void {
    if (this.#kill.afterMs === 0) this.now()
    else setTimeout(() => this.now(), this.#kill.afterMs)
  }

  /** Something is wrong already, or the moment does not come. */
  now(): void {
    this.isOver = true
    this.#reached.resolve()
  }

  get moment(): Promise<void> {
    return this.#reached.promise
  }
}
