/**
 * Pointers and holds of a repository, here or shared by several machines. While one git process runs, every move asked for waits and goes
 * into the next one together, so a thousand scenarios publishing at once cost a handful of processes, and a move to where the ref is already
 * costs none.
 */
import { conflict } from '../../../../src/contract/index.ts'
import { Lane } from '../../../../src/kit/index.ts'
import { settleGoals } from '../../common/refs/goals.ts'
import type { Find, Goal, RefPlace } from '../../common/refs/goals.ts'
import { archivedRef, scenarioRef } from '../../common/refs/ref-names.ts'

/** How often others may move a pointer while it is archived. */
const ATTEMPTS_MAX = 5

interface Move extends Goal {
  readonly done: readonly PromiseWithResolvers<void>[]
}
/** By ref, in the order asked; of several moves of one ref the last says where it ends, and all who asked hear of it. */
type Gathering = Map<string, Move>

export class Refs {
  readonly #place: RefPlace
  readonly #find: Find
  readonly #goalsMax: number
  readonly #lane = new Lane()
  #gathering: Gathering | null = null

  /** At most so many goals in one process. */
  constructor(place: RefPlace, find: Find, goalsMax = Infinity) {
    this.#place = place
    this.#find = find
    this.#goalsMax = goalsMax
  }

  move({ ref, releaseId }: Goal): Promise<void> {
    const done = Promise.withResolvers<void>()
    const gathering = this.#gathering ?? this.#gather()
    gathering.set(ref, { ref, releaseId, done: [...(gathering.get(ref)?.done ?? []), done] })
    return done.promise
  }

  /** What is gathered so far goes before, what comes later goes after. A scenario without a pointer leaves nothing to rename. */
  async archive(scenario: string, as: string): Promise<string> {
    this.#gathering = null
    const from = scenarioRef(scenario)
    const to = archivedRef(scenario, as)
    await this.#lane.run(() => this.#rename(from, to))
    return to
  }

  async idle(): Promise<void> {
    await this.#lane.run(() => Promise.resolve())
  }

  #gather(): Gathering {
    const gathering: Gathering = new Map()
    this.#gathering = gathering
    void this.#lane.run(async () => {
      if (this.#gathering === gathering) this.#gathering = null
      const moves = [...gathering.values()]
      for (let at = 0; at < moves.length; at += this.#goalsMax) await this.#apply(moves.slice(at, at + this.#goalsMax))
    })
    return gathering
  }

  async #apply(moves: readonly Move[]): Promise<void> {
    const failures = await settleGoals(this.#place, moves, this.#find)
    for (const { ref, done } of moves) {
      if (failures.has(ref)) done.forEach(({ reject }) => reject(failures.get(ref)))
      else done.forEach(({ resolve }) => resolve())
    }
  }

  /** Read anew: another process may have pointed the scenario since, and may do so again meanwhile. */
  async #rename(from: string, to: string): Promise<void> {
    await this.#place.refresh()
    for (let attempt = 1; ; attempt += 1) {
      const releaseId = this.#place.known.get(from)
      if (releaseId === undefined) return
      if (this.#place.known.has(to)) throw conflict('archive_exists', 'an archive of this name exists already; choose another')
      try {
        return await this.#place.change([
          { ref: to, from: null, to: releaseId },
          { ref: from, from: releaseId, to: null },
        ])
      } catch (error) {
        await this.#place.refresh()
        if (attempt === ATTEMPTS_MAX || this.#place.known.get(from) === releaseId) throw error
      }
    }
  }
}
