/** The rows of one scenario, and where to find those that made a release. */
import type { ChainPage, Commit, JsonObject, ScenarioHead } from '../../../src/contract/index.ts'

export class CommitChain {
  /** Each at the place of its step. */
  readonly #rows: Commit[] = []
  /** Steps, oldest first. */
  readonly #released: number[] = []
  readonly #published: number[] = []
  readonly #held: number[] = []
  readonly #moves = new Map<string, number[]>()
  readonly #makers = new Map<string, number>()

  get rows(): readonly Commit[] {
    return this.#rows
  }

  push(commit: Commit): void {
    this.#rows.push(commit)
    const { step, release, pending, outcome, rollback_target_release_id: target } = commit
    if (release === null) return
    this.#released.push(step)
    if (pending) this.#held.push(step)
    else if (outcome === 'published') this.#published.push(step)
    if (!this.#makers.has(release.release_id)) this.#makers.set(release.release_id, step)
    if (target === undefined) return
    const moves = this.#moves.get(target) ?? []
    moves.push(step)
    this.#moves.set(target, moves)
  }

  head(): ScenarioHead | null {
    const newest = this.#rows.at(-1)
    return newest === undefined ? null : { newest, published: this.#rows[this.#published.at(-1) ?? -1] ?? null }
  }

  page(page: ChainPage): readonly Commit[] {
    const steps = this.#stepsOf(page.only)
    const found =
      'after' in page
        ? sliceFrom(steps, firstAfter(steps, page.after), page.limit)
        : sliceUpTo(steps, firstAfter(steps, page.before - 1), page.limit).toReversed()
    return found.flatMap((step) => this.#rows[step] ?? [])
  }

  maker(releaseId: string): Commit | null {
    return this.#rows[this.#makers.get(releaseId) ?? -1] ?? null
  }

  keepTotals(totals: ReadonlyMap<number, JsonObject>): void {
    for (const [step, each] of totals) {
      const row = this.#rows[step]
      if (row !== undefined) this.#rows[step] = { ...row, totals: structuredClone(each) }
    }
  }

  #stepsOf(only: ChainPage['only']): readonly number[] {
    if (only === undefined) return this.#released
    if (only === 'published') return this.#published
    return only === 'held' ? this.#held : (this.#moves.get(only.target) ?? [])
  }
}

const sliceFrom = (steps: readonly number[], at: number, limit: number): readonly number[] => steps.slice(at, at + limit)
const sliceUpTo = (steps: readonly number[], end: number, limit: number): readonly number[] => steps.slice(Math.max(end - limit, 0), end)

/** The position of the first step that is larger. */
function firstAfter(steps: readonly number[], step: number): number {
  let [low, high] = [0, steps.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((steps[middle] ?? 0) > step) high = middle
    else low = middle + 1
  }
  return low
}
