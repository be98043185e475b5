/** Plays the episodes of a step, from the cache where possible, each at the host of the scenario. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Adapter, Entry, Episode, Evaluator, JsonObject, Task } from '../contract/index.ts'
import { renderTree } from '../harness/index.ts'
import { wordsOf } from '../kit/index.ts'
import type { Trouble } from './episode-end.ts'
import { cacheKey, type EpisodeCache, type Known } from './cache.ts'
import { secondsSince } from './hosts/here.ts'
import { MachineProblem, type EpisodeHost, type EpisodeInput, type EpisodeMeans, type EpisodeOutcome } from './hosts/host.ts'
import { isSeeded } from './luck.ts'
import { CapReached } from './money/caps.ts'
import type { Purse } from './money/purse.ts'
import type { Took } from './objective.ts'
import { NOTHING_SPENT, spentBoth, type Spent } from './money/spent.ts'
import { watchedModels } from './models/watched.ts'
import { sideOf, Troubles, type PlayedSide } from './troubles.ts'

/** What all episodes of a step share. */
interface EpisodeSetup extends Omit<EpisodeMeans, 'hold' | 'used' | 'counted'> {
  readonly host: EpisodeHost
  readonly adapter: Adapter
  /** Before another try; times the number of tries so far, squared. */
  readonly pauseMs: number
  evaluatorOf(task: Task): Promise<Evaluator>
}

type MayRepeat = (trouble: Trouble, compares: boolean) => boolean

/**
 * Trouble that is neither side's says nothing about the change: the episode is played again at most twice. `mayRepeat` is asked after each
 * trouble of the model or the evaluator.
 */
export async function playUntilScored(
  setup: Omit<EpisodeSetup, 'adapter'> & EpisodeMeans,
  input: EpisodeInput,
  mayRepeat: MayRepeat,
): Promise<EpisodeOutcome> {
  const { compares = false } = await setup.evaluatorOf(input.task)
  /** Those that the model or the evaluator failed. */
  let failed = 0
  for (let tries = 1; ; tries += 1) {
    // The same luck may end in the same trouble. A machine that was lost says nothing about it: the score stays that of an undisturbed play.
    const luck = input.luck === null || failed === 0 ? input.luck : `${input.luck} ${failed + 1}`
    const played = await setup.host.play({ ...input, luck }, setup)
    if (played.trouble === null) return played
    if (played.trouble === 'machine' && tries >= TRIES_MAX) throw new MachineProblem(`an episode ${played.failure ?? 'failed'}`)
    if (played.trouble !== 'machine' && !mayRepeat(played.trouble, compares)) return played
    if (played.trouble !== 'machine') failed += 1
    if (played.trouble !== 'evaluator') await wait(setup.pauseMs * tries ** 2, undefined, { signal: setup.signal })
  }
}

const TRIES_MAX = 3

/** One episode of the step, played or cached. */
export interface EpisodeResult extends EpisodeOutcome {
  readonly side: PlayedSide
  readonly task: Task
  readonly repeat: number
  readonly cached: boolean
  /** The step that played it. */
  readonly step: number
  /** How often the model or the evaluator failed it, also where a later try has a score. */
  readonly troubles: number
  /** By the agent, all tries together; nothing where it is cached. */
  readonly spent: Spent
  readonly seconds: number
  /** By the agent, in the last try alone; null where that is not known. */
  readonly took: Took | null
  /** As in `Known`. */
  readonly place: Known['place']
}

/** Which episode is wanted. */
interface EpisodeOrder extends Pick<EpisodeResult, 'side' | 'task' | 'repeat'> {
  readonly entries: readonly Entry[]
}

interface EpisodeRunnerParts {
  readonly setup: EpisodeSetup
  readonly cache: EpisodeCache
  readonly purse: Purse
  readonly step: number
  /** In milliseconds. */
  readonly now: () => number
  /** How old a score may be that is used again, in milliseconds. */
  readonly ageMaxMs: number
  /** What the outcome also depends on: the agent's version, the model, the evaluator. */
  readonly scoredWith: JsonObject
  /** What the sampling seeds of all its episodes follow from; null: they have none. */
  readonly luck: string | null
  /** 0: no limit. */
  readonly episodesMax: number
  /** Records the episode, and answers with its folder among the step records; never throws. */
  readonly keep: (result: EpisodeResult) => Promise<string | null>
}

type Tried = EpisodeOutcome & Pick<EpisodeResult, 'troubles' | 'spent' | 'seconds' | 'took'>

export class EpisodeRunner {
  readonly #parts: EpisodeRunnerParts
  readonly results: EpisodeResult[] = []
  readonly #treeKeys = new Map<readonly Entry[], string>()
  readonly #taskKeys = new Map<Task, string>()
  readonly troubles = new Troubles()
  /** How many episodes the step used, also those that an earlier attempt of it played; `#counted` has those with a score. */
  used = 0
  readonly #counted = new Set<string>()
  /** Whether a cap of tokens or money kept one from being played. */
  isCut = false

  constructor(parts: EpisodeRunnerParts) {
    this.#parts = parts
  }

  /** Throws where no episode can be played now. */
  ready(): Promise<void> {
    return this.#parts.setup.host.ready(this.#parts.setup)
  }

  /** Null: no limit. */
  get left(): number | null {
    const { episodesMax, purse } = this.#parts
    if (purse.reached !== null) return 0
    return episodesMax === 0 ? null : Math.max(0, episodesMax - this.used)
  }

  /** The cap of tokens or money that is reached, in words; null where none is. */
  get capReached(): string | null {
    return this.#parts.purse.reached
  }

  /** Whether the task's evaluator compares the candidate with the current side. */
  async compares(task: Task): Promise<boolean> {
    return (await this.#parts.setup.evaluatorOf(task)).compares === true
  }

  get step(): number {
    return this.#parts.step
  }

  /** Why no known score may be used any more, or null. */
  get cacheProblem(): string | null {
    return this.#parts.cache.problem
  }

  async flush(): Promise<void> {
    await this.#parts.cache.flush()
  }

  /** What is known of an episode; null where its evaluator compares. */
  async known(order: EpisodeOrder): Promise<Known | null> {
    const known = (await this.compares(order.task)) ? null : this.#parts.cache.get(await this.#knownKey(order))
    return known !== null && this.#isDistrusted(known) ? null : known
  }

  /** A score of the future is the mark of a clock that was set back. */
  isRecent({ at }: Known): boolean {
    return Math.abs(this.#parts.now() - at) <= this.#parts.ageMaxMs
  }

  /** Takes a known score as the result. */
  async take(order: EpisodeOrder, known: Known): Promise<EpisodeResult> {
    const { side, task, repeat } = order
    this.troubles.add(side, known.troubles > 0)
    const key = await this.#knownKey(order)
    // A step that was killed has paid for it: the next attempt has the budget of one that was not.
    if (known.step === this.step && !this.#counted.has(key)) this.used += 1
    this.#counted.add(key)
    const nothing = { note: null, trouble: null, spent: NOTHING_SPENT, seconds: 0, agentSeconds: 0, seeds: [] }
    return this.#add({ side, task, repeat, cached: true, episode: this.#parts.cache.episode(key), ...nothing, ...known })
  }

  /**
   * Plays it, also where a score is known; `before` is one to compare with. Null when the budget is spent, also where that happened while it
   * was played: an agent that got no answer was not measured.
   */
  async play(order: EpisodeOrder, reference: Episode | null, before: Known | null = null): Promise<EpisodeResult | null> {
    const { side, entries, task, repeat } = order
    const { cache, keep, step, now } = this.#parts
    await this.#settle()
    if (this.capReached !== null) this.isCut = true
    if (this.left === 0) return null
    const at = now()
    const luck = this.#luckOf(order)
    const played = await this.#playUnlessCut({ side: sideOf(side) ?? 'candidate', entries, task, reference, luck }, side)
    if (played === null) return null
    const { score, failure, trouble, troubles, episode, seeds, took, worker } = played
    const key = await this.#keyOf(order, isSeeded(seeds) ? luck : null)
    this.#counted.add(key)
    if (before !== null && score !== null) cache.compare(before.score, score)
    const result = { side, task, repeat, cached: false, step, ...played }
    const place = await keep({ ...result, place: null })
    if (score !== null && trouble === null && !(await this.compares(task)))
      await cache.put(key, { score, failure, troubles, at, step, answeredBy: episode?.answeredBy ?? null, took, place, worker })
    if (side === 'trial' && episode !== null) cache.study(key, episode)
    const added = this.#add({ ...result, place })
    this.#refuseDistrusted()
    return added
  }

  /** The step is done again with what the others played: those scores are known, and the ones of this worker are played again. */
  #refuseDistrusted(): void {
    const { worker } = this.results.find((result) => this.#isDistrusted(result)) ?? {}
    if (worker != null) throw new MachineProblem(`worker ${worker} was set aside, and what it played is played again`)
  }

  #isDistrusted({ worker }: Pick<Known, 'worker'>): boolean {
    return worker !== null && this.#parts.setup.host.distrusts(worker)
  }

  /** Both sides of a pair have the same, and each repeat its own. */
  #luckOf({ task, repeat }: EpisodeOrder): string | null {
    const { luck } = this.#parts
    return luck === null ? null : JSON.stringify([luck, task.name, repeat])
  }

  /** A score belongs to the luck that it was played with, where the model took its seeds. */
  async #knownKey(order: EpisodeOrder): Promise<string> {
    const seeded = await this.#keyOf(order, this.#luckOf(order))
    return this.#parts.cache.get(seeded) === null ? this.#keyOf(order, null) : seeded
  }

  async #keyOf({ entries, task, repeat }: EpisodeOrder, luck: string | null): Promise<string> {
    const parts = [await this.#parts.setup.host.version(), this.#treeKey(entries), this.#taskKey(task), repeat]
    return cacheKey(luck === null ? parts : [...parts, luck])
  }

  /** Cached, since its files may be large. */
  #taskKey(task: Task): string {
    const { name, prompt, files = {}, data = {} } = task
    const known = this.#taskKeys.get(task) ?? cacheKey([{ name, prompt, files, data }, this.#parts.scoredWith])
    this.#taskKeys.set(task, known)
    return known
  }

  /** What was spent is durable before more is. */
  async #settle(): Promise<void> {
    await this.#parts.purse.settle().catch((error: unknown) => {
      throw new MachineProblem(`what episodes spend cannot be recorded: ${wordsOf(error)}`, { cause: error })
    })
  }

  async #playUnlessCut(input: EpisodeInput, side: EpisodeResult['side']): Promise<Tried | null> {
    let isCut = false
    const models = watchedModels(this.#parts.setup.models, () => (isCut = true))
    try {
      const played = await this.#playAndRepeat(input, side, models)
      if (!isCut) return played
    } catch (error) {
      if (error instanceof CapReached) this.#parts.purse.refuse(error.message)
      else if (!isCut) throw error
    }
    this.isCut = true
    return null
  }

  /** Counts every try: each is paid for. */
  async #playAndRepeat(input: EpisodeInput, side: EpisodeResult['side'], models: EpisodeMeans['models']): Promise<Tried> {
    const { setup, purse } = this.#parts
    const began = performance.now()
    let [spent, spentByTry] = [NOTHING_SPENT, NOTHING_SPENT]
    let troubles = 0
    this.used += 1
    const mayRepeat = (trouble: Trouble, compares: boolean): boolean => {
      troubles += 1
      if (troubles === 1) this.troubles.add(side, true)
      // Only the candidate is scored by an evaluator that compares, and its words may be why that failed.
      if (troubles === TRIES_MAX || this.left === 0 || (compares && trouble === 'evaluator')) return false
      if (side === 'candidate' && this.troubles.isOwnOf(side)) return false
      this.used += 1
      spentByTry = NOTHING_SPENT
      return true
    }
    const add = (byCall: Spent): void => {
      spent = spentBoth(spent, byCall)
      spentByTry = spentBoth(spentByTry, byCall)
    }
    const count: Pick<EpisodeMeans, 'hold' | 'used' | 'counted'> = {
      hold: (bound, signal) => purse.hold('episode', bound, signal),
      used: (call, held) => add(purse.spend('episode', call, held)),
      counted: (call) => add(purse.spentBy(call)),
    }
    const played = await playUntilScored({ ...setup, models, ...count }, input, mayRepeat)
    const seconds = secondsSince(began)
    const took = { cost: spentByTry.unpricedCalls > 0 ? null : spentByTry.cost, seconds: played.agentSeconds }
    if (spent.calls > 0) purse.episodeEnded(seconds)
    if (troubles === 0) this.troubles.add(side, false)
    return { ...(side === 'candidate' ? this.#blamed(played) : played), troubles, spent, seconds, took }
  }

  /** What fails on the candidate's side alone is its own doing: a verdict. */
  #blamed(played: EpisodeOutcome): EpisodeOutcome {
    if (played.trouble === null || !this.troubles.isOwnOf('candidate')) return played
    return { ...played, score: 0, failure: `${played.failure ?? 'it failed'}; this happens to the candidate alone, so it counts as 0` }
  }

  #add(result: EpisodeResult): EpisodeResult {
    // The row needs the result, not the whole text.
    this.results.push({ ...result, episode: null, ...(result.note !== null && { note: { ...result.note, more: {} } }) })
    return result
  }

  /** Cached, since a step plays the same few trees. */
  #treeKey(entries: readonly Entry[]): string {
    const known = this.#treeKeys.get(entries) ?? cacheKey([renderTree(this.#parts.setup.adapter, entries)])
    this.#treeKeys.set(entries, known)
    return known
  }
}
