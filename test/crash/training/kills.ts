/** When a service that learns is killed: while it starts, right after an acknowledgement, or at a point of a landing, also of one that the last crash cut off. */
import type { Point } from '../../fixtures/dying-points.ts'
import type { Victim } from '../child.ts'
import type { Random } from '../random.ts'

export interface Kill {
  readonly who: Victim
  readonly when: 'starting' | 'acknowledged' | Point
  /** At the how manieth time. */
  readonly count: number
  /** How long after it. */
  readonly afterMs: number
}

const STARTING_MS_MAX = 2500
const LATE_MS_MAX = 40
const POINTS: readonly [Point, ...Point[]] = [
  'before-content',
  'after-content',
  'before-row',
  'after-row',
  'after-pointer',
  'after-load',
  'after-step',
]

export function drawKill(random: Random): Kill {
  const who = random.pick<Victim>(['service', 'family'])
  const chance = random.fraction()
  if (chance < 0.1) return { who, when: 'starting', count: 0, afterMs: random.between(0, STARTING_MS_MAX) }
  const afterMs = random.fraction() < 0.7 ? 0 : random.between(1, LATE_MS_MAX)
  if (chance < 0.4) return { who, when: 'acknowledged', count: random.between(1, 40), afterMs }
  // Few enough to fall into what the last crash left behind, or many enough to come after it.
  const count = random.fraction() < 0.4 ? random.between(1, 3) : random.between(4, 10)
  return { who, when: random.pick(POINTS), count, afterMs }
}

export class Trigger {
  readonly #kill: Kill
  readonly #reached = Promise.withResolvers<void>()
  /** Set when the kill is on its way. */
  isOver = false
  #seen = 0

  constructor(kill: Kill) {
    this.#kill = kill
    if (kill.count === 0) this.#later()
  }

  /** Something happened: the moment may be now. */
  happened(what: string): void {
    if (this.#kill.when !== what) return
    this.#seen += 1
    if (this.#seen === this.#kill.count) this.#later()
  }

  #later(): void {
    if (this.#kill.afterMs === 0) this.now()
    else setTimeout(() => this.now(), this.#kill.afterMs)
  }

  /** Something is wrong already: there is nothing more to wait for. */
  now(): void {
    this.isOver = true
    this.#reached.resolve()
  }

  get moment(): Promise<void> {
    return this.#reached.promise
  }
}
