/** Plays what a step asks for: from the cache where it is known, else for real as far as the budget goes, each episode kept in the step's record. */
import type { Entry, Episode, JsonObject, Side, Task } from '../contract/index.ts'
import { renderTree } from '../harness/index.ts'
import { cacheKey, type EpisodeCache } from './cache.ts'
import { playEpisode, type Played, type Stage } from './episodes.ts'

/** One episode of the step, as its row tells of it. */
export interface Told extends Played {
  readonly side: Side | 'trial'
  readonly task: Task
  readonly repeat: number
  readonly cached: boolean
}

export interface PlayersParts {
  readonly stage: Stage
  readonly cache: EpisodeCache
  /** What the outcome depends on beside the tree and the task: the agent's version, the model, the evaluator. */
  readonly context: JsonObject
  /** 0: no limit. */
  readonly episodesMax: number
  /** Keeps what was played; never throws. */
  readonly keep: (told: Told) => Promise<void>
}

export class Players {
  readonly #parts: PlayersParts
  readonly told: Told[] = []
  readonly #treeKeys = new Map<readonly Entry[], string>()
  #played = 0

  constructor(parts: PlayersParts) {
    this.#parts = parts
  }

  /** Episodes that ran. */
  get played(): number {
    return this.#played
  }

  /** Null: as many as anybody likes. */
  get left(): number | null {
    const { episodesMax } = this.#parts
    return episodesMax === 0 ? null : Math.max(0, episodesMax - this.#played)
  }

  /** Whether a candidate is scored against what the current side made of the task. */
  async compares(task: Task): Promise<boolean> {
    return (await this.#parts.stage.evaluatorOf(task)).compares === true
  }

  /** Null when the budget is spent. */
  async play(side: Told['side'], entries: readonly Entry[], task: Task, repeat: number, reference: Episode | null): Promise<Told | null> {
    const { stage, cache, keep } = this.#parts
    const compares = await this.compares(task)
    const { version } = await stage.program()
    const key = this.#key([version, this.#treeKey(entries)], task, repeat)
    const known = compares ? null : cache.get(key)
    if (known !== null)
      return this.#tell({ side, task, repeat, cached: true, episode: cache.episode(key), grounds: null, trouble: null, ...known })
    if (this.left === 0) return null
    this.#played += 1
    const played = await playEpisode(stage, { side: side === 'current' ? side : 'candidate', entries, task, reference })
    if (played.score !== null && !compares) await cache.put(key, { score: played.score, failure: played.failure })
    if (side === 'trial' && played.episode !== null) cache.study(key, played.episode)
    const told = this.#tell({ side, task, repeat, cached: false, ...played })
    await keep(told)
    return told
  }

  #tell(told: Told): Told {
    // The row wants to know how it went, not to hold every word of it.
    this.told.push({ ...told, episode: null, ...(told.grounds !== null && { grounds: { ...told.grounds, more: {} } }) })
    return told
  }

  #key(agent: readonly string[], task: Task, repeat: number): string {
    const { name, prompt, files = {}, data = {} } = task
    return cacheKey([agent, { name, prompt, files, data }, this.#parts.context, repeat])
  }

  /** A step plays a few trees over and over. */
  #treeKey(entries: readonly Entry[]): string {
    const known = this.#treeKeys.get(entries) ?? cacheKey([renderTree(this.#parts.stage.adapter, entries)])
    this.#treeKeys.set(entries, known)
    return known
  }
}
