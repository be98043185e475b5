/** When the service is killed: while it starts, at some moment of its work, or right after an answer of the model or an acknowledgement. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Victim } from './child.ts'
import type { Random } from './random.ts'

export type Kill = { readonly who: Victim } & Moment
type Moment =
  | { readonly when: 'starting'; readonly afterMs: number }
  | { readonly when: 'working'; readonly afterMs: number }
  | { readonly when: 'answered' | 'acknowledged'; readonly count: number }

const STARTING_MS_MAX = 900
const WORKING_MS_MAX = 900
const COUNT_MAX = 120

export function drawKill(random: Random): Kill {
  return { who: random.pick(['service', 'family']), ...drawMoment(random) }
}

function drawMoment(random: Random): Moment {
  const chance = random.fraction()
  if (chance < 0.12) return { when: 'starting', afterMs: random.between(0, STARTING_MS_MAX) }
  if (chance < 0.5) return { when: 'working', afterMs: random.between(1, WORKING_MS_MAX) }
  return { when: chance < 0.75 ? 'answered' : 'acknowledged', count: random.between(1, COUNT_MAX) }
}

/** Counts what happens and resolves when the moment has come. */
export class Trigger {
  readonly #kill: Kill
  readonly #reached = Promise.withResolvers<void>()
  /** Set when the kill is on its way. */
  isOver = false
  #seen = 0

  constructor(kill: Kill) {
    this.#kill = kill
  }

  /** Something happened: the moment may be now. */
  happened(what: Kill['when']): void {
    if (this.#kill.when !== what || !('count' in this.#kill)) return
    this.#seen += 1
    if (this.#seen >= this.#kill.count) this.now()
  }

  /** Something is wrong already: there is nothing more to wait for. */
  now(): void {
    this.#reached.resolve()
  }

  moment(): Promise<void> {
    return 'afterMs' in this.#kill ? Promise.race([sleep(this.#kill.afterMs), this.#reached.promise]) : this.#reached.promise
  }
}
