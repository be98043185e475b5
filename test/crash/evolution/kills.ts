/** When a service that evolves is killed: while it starts, after an acknowledgement, or when a file shows how far a step has come. */
import { watch, type FSWatcher } from 'node:fs'
import type { Victim } from '../child.ts'
import type { Random } from '../random.ts'
import type { Scene } from './scene.ts'

/**
 * - episode: the folder of an episode came or went.
 * - claimed: a proposal was taken from the inbox, or left its step.
 * - settling: a step has told everything, and its row is about to be written.
 */
type Moment = 'starting' | 'acknowledged' | 'episode' | 'claimed' | 'settling'
export interface Kill {
  readonly who: Victim
  readonly when: Moment
  /** At the how manieth time. */
  readonly count: number
  /** How long after it. */
  readonly afterMs: number
}

const STARTING_MS_MAX = 2500
const EPISODE_MS_MAX = 500
const LATE_MS_MAX = 60

export function drawKill(random: Random): Kill {
  const who = random.pick<Victim>(['service', 'family'])
  const chance = random.fraction()
  const afterMs = random.fraction() < 0.5 ? 0 : random.between(1, LATE_MS_MAX)
  if (chance < 0.15) return { who, when: 'starting', count: 0, afterMs: random.between(0, STARTING_MS_MAX) }
  if (chance < 0.3) return { who, when: 'acknowledged', count: random.between(1, 12), afterMs }
  if (chance < 0.6) return { who, when: 'episode', count: random.between(1, 40), afterMs: random.between(0, EPISODE_MS_MAX) }
  if (chance < 0.75) return { who, when: 'claimed', count: random.between(1, 6), afterMs }
  return { who, when: 'settling', count: random.between(1, 4), afterMs }
}

export class Trigger {
  readonly #kill: Kill
  readonly #reached = Promise.withResolvers<void>()
  readonly #watchers: readonly FSWatcher[]
  /** Set when the kill is on its way. */
  isOver = false
  #seen = 0

  constructor(kill: Kill, scene: Scene) {
    this.#kill = kill
    this.#watchers = [
      this.#watch(scene.temporary, 'episode', (name) => name.startsWith('svc-episode-')),
      this.#watch(scene.proposals, 'claimed', (name) => name.includes('/claimed/')),
      this.#watch(scene.steps, 'settling', (name) => name.endsWith('/proposer.json')),
    ]
    if (kill.count === 0) this.#later()
  }

  /** Something happened: the moment may be now. */
  happened(what: Moment): void {
    if (this.#kill.when !== what) return
    this.#seen += 1
    if (this.#seen === this.#kill.count) this.#later()
  }

  #watch(folder: string, moment: Moment, isIt: (name: string) => boolean): FSWatcher {
    const watcher = watch(folder, { recursive: moment !== 'episode' }, (_event, name) => {
      if (name !== null && isIt(name)) this.happened(moment)
    })
    // A folder that went while it was looked at shows nothing any more.
    return watcher.on('error', () => undefined)
  }

  #later(): void {
    if (this.#kill.afterMs === 0) this.now()
    else setTimeout(() => this.now(), this.#kill.afterMs)
  }

  /** Something is wrong already, or the moment does not come: there is nothing more to wait for. */
  now(): void {
    this.isOver = true
    for (const watcher of this.#watchers) watcher.close()
    this.#reached.resolve()
  }

  get moment(): Promise<void> {
    return this.#reached.promise
  }
}
