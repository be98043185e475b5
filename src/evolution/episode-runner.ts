/** Plays the episodes of a step: from the cache where possible, within the budget, each recorded in the step's record. */
import type { Entry, Episode, JsonObject, Side, Task } from '../contract/index.ts'
import { renderTree } from '../harness/index.ts'
import { cacheKey, type EpisodeCache } from './cache.ts'
import { playEpisode, type EpisodeOutcome, type EpisodeSetup } from './episodes.ts'

/** One episode of the step, played or cached. */
export interface EpisodeResult extends EpisodeOutcome {
  readonly side: Side | 'trial'
  readonly task: Task
  readonly repeat: number
  readonly cached: boolean
}

export interface EpisodeRunnerParts {
  readonly setup: EpisodeSetup
  readonly cache: EpisodeCache
  /** What the outcome also depends on: the agent's version, the model, the evaluator. */
  readonly scoredWith: JsonObject
  /** 0: no limit. */
  readonly episodesMax: number
  /** Records the episode; never throws. */
  readonly keep: (result: EpisodeResult) => Promise<void>
}

export class EpisodeRunner {
  readonly #parts: EpisodeRunnerParts
  readonly results: EpisodeResult[] = []
  readonly #treeKeys = new Map<readonly Entry[], string>()
  #played = 0

  constructor(parts: EpisodeRunnerParts) {
    this.#parts = parts
  }

  /** How many episodes ran. */
  get played(): number {
    return this.#played
  }

  /** Null: no limit. */
  get left(): number | null {
    const { episodesMax } = this.#parts
    return episodesMax === 0 ? null : Math.max(0, episodesMax - this.#played)
  }

  /** Whether the task's evaluator compares the candidate with the current side. */
  async compares(task: Task): Promise<boolean> {
    return (await this.#parts.setup.evaluatorOf(task)).compares === true
  }

  /** Null when the budget is spent. */
  async play(
    side: EpisodeResult['side'],
    entries: readonly Entry[],
    task: Task,
    repeat: number,
    reference: Episode | null,
  ): Promise<EpisodeResult | null> {
    const { setup, cache, keep } = this.#parts
    const compares = await this.compares(task)
    const { version } = await setup.program()
    const key = this.#key([version, this.#treeKey(entries)], task, repeat)
    const known = compares ? null : cache.get(key)
    if (known !== null)
      return this.#add({ side, task, repeat, cached: true, episode: cache.episode(key), note: null, trouble: null, ...known })
    if (this.left === 0) return null
    this.#played += 1
    const played = await playEpisode(setup, { side: side === 'current' ? side : 'candidate', entries, task, reference })
    if (played.score !== null && !compares) await cache.put(key, { score: played.score, failure: played.failure })
    if (side === 'trial' && played.episode !== null) cache.study(key, played.episode)
    const result = this.#add({ side, task, repeat, cached: false, ...played })
    await keep(result)
    return result
  }

  #add(result: EpisodeResult): EpisodeResult {
    // The row needs the result, not the whole text.
    this.results.push({ ...result, episode: null, ...(result.note !== null && { note: { ...result.note, more: {} } }) })
    return result
  }

  #key(agent: readonly string[], task: Task, repeat: number): string {
    const { name, prompt, files = {}, data = {} } = task
    return cacheKey([agent, { name, prompt, files, data }, this.#parts.scoredWith, repeat])
  }

  /** Cached, since a step plays the same few trees. */
  #treeKey(entries: readonly Entry[]): string {
    const known = this.#treeKeys.get(entries) ?? cacheKey([renderTree(this.#parts.setup.adapter, entries)])
    this.#treeKeys.set(entries, known)
    return known
  }
}
