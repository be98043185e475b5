/** A cache of scores: an episode with the same content, task, model and repeat is not played again while its score may be trusted. */
import { createHash } from 'node:crypto'
import { canonicalJson, type Documents, type Episode, type Json } from '../contract/index.ts'
import { CacheAudit } from './audit.ts'
import type { Took } from './objective.ts'

const PATH = 'episodes.jsonl'
/** A longer file is cut to its newest half. */
const LINES_MAX = 20_000

/** Episodes of proposers' trials, kept in memory. */
const EPISODES_MAX = 256
const EPISODE_BYTES_MAX = 256 * 1024

const MODELS_MAX = 64

export interface Known {
  readonly score: number
  readonly failure: string | null
  /** How often the model or the evaluator failed before it had a score. */
  readonly troubles: number
  /** When it was played, in milliseconds, and by which step. */
  readonly at: number
  readonly step: number
  /** As the answers named the model; null where that was not seen. */
  readonly answeredBy: string | null
  /** Null in lines of versions that did not keep it. */
  readonly took: Took | null
  /** Its folder among the step records, such as `shop/4/episodes/candidate-2`; null where none was kept. */
  readonly place: string | null
  /** Who played it on another machine; null where it was played here, or that was not kept. */
  readonly worker: string | null
}

export class EpisodeCache {
  readonly #documents: Documents
  readonly #known: Map<string, Known>
  readonly #episodes = new Map<string, Episode>()
  #audit = new CacheAudit()
  /** Every name by which the model answered. */
  readonly #models: Set<string>
  #newModel: string | null = null

  private constructor(documents: Documents, known: Map<string, Known>) {
    this.#documents = documents
    this.#known = known
    this.#models = new Set([...known.values()].flatMap(({ answeredBy }) => answeredBy ?? []))
  }

  /** An unreadable cache counts as empty. */
  static async open(documents: Documents): Promise<EpisodeCache> {
    const bytes = await documents.read(PATH).catch(() => null)
    const text = Buffer.from(bytes ?? []).toString()
    // After a crash the last line may be cut short; the next one must start on its own line.
    if (text !== '' && !text.endsWith('\n')) await documents.append(PATH, '\n').catch(() => undefined)
    const known = new Map(text.split('\n').flatMap(readLine))
    const cache = new EpisodeCache(documents, known)
    if (known.size > LINES_MAX) await cache.#shrink().catch(() => undefined)
    return cache
  }

  get(key: string): Known | null {
    return this.#known.get(key) ?? null
  }

  episode(key: string): Episode | null {
    return this.#episodes.get(key) ?? null
  }

  study(key: string, episode: Episode): void {
    if (printedBytes(episode) > EPISODE_BYTES_MAX) return
    this.#episodes.set(key, episode)
    const [oldest] = this.#episodes.keys()
    if (this.#episodes.size > EPISODES_MAX && oldest !== undefined) this.#episodes.delete(oldest)
  }

  /** Why no known score may be used any more, or null. */
  get problem(): string | null {
    return this.#newModel ?? this.#audit.problem
  }

  /** A known score that was played again. */
  compare(before: number, now: number): void {
    this.#audit.add(before, now)
  }

  /** Forgets every score. */
  async flush(): Promise<void> {
    this.#known.clear()
    this.#episodes.clear()
    this.#audit = new CacheAudit()
    this.#newModel = null
    await this.#documents.write(PATH, '').catch(() => undefined)
  }

  /** The last one counts. A disk error loses the entry for later steps only. */
  async put(key: string, value: Known): Promise<void> {
    this.#watchModel(value)
    this.#known.delete(key)
    this.#known.set(key, value)
    await this.#documents.append(PATH, lineOf(key, value)).catch(() => undefined)
  }

  /** A provider may answer with several versions at once: only one that is new is a change. */
  #watchModel({ answeredBy }: Known): void {
    if (answeredBy === null) return
    const isNew = !this.#models.has(answeredBy)
    if (isNew && this.#models.size > 0) this.#newModel ??= 'the answers name another model or version than before'
    if (isNew && this.#models.size < MODELS_MAX) this.#models.add(answeredBy)
  }

  async #shrink(): Promise<void> {
    const kept = [...this.#known].slice(-LINES_MAX / 2)
    this.#known.clear()
    for (const [key, value] of kept) this.#known.set(key, value)
    await this.#documents.write(PATH, kept.map(([key, value]) => lineOf(key, value)).join(''))
  }
}

/** An agent's trajectory may be nested too deep for JSON.stringify. */
function printedBytes(episode: Episode): number {
  try {
    return Buffer.byteLength(JSON.stringify(episode))
  } catch {
    return Infinity
  }
}

const lineOf = (key: string, { score, failure, troubles, at, step, answeredBy, took, place, worker }: Known): string =>
  `${JSON.stringify([key, score, failure, troubles, at, step, answeredBy, took?.seconds ?? null, took?.cost ?? null, place, worker])}\n`

/** Skips lines that are cut short or of another shape, also those of versions that did not say when a score was played. */
function readLine(line: string): readonly [string, Known][] {
  try {
    const [key, score, failure, troubles, at, step, answeredBy, seconds, cost, place, worker]: readonly unknown[] = JSON.parse(line)
    if (typeof key !== 'string' || typeof score !== 'number') return []
    if (typeof troubles !== 'number' || typeof at !== 'number' || typeof step !== 'number') return []
    const said = { failure: textOr(failure), answeredBy: textOr(answeredBy) }
    const took = typeof seconds === 'number' ? { seconds, cost: typeof cost === 'number' ? cost : null } : null
    return [[key, { score, troubles, at, step, ...said, took, place: textOr(place), worker: textOr(worker) }]]
  } catch {
    return []
  }
}

const textOr = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** `parts` are everything that the outcome of an episode depends on. */
export const cacheKey = (parts: readonly Json[]): string =>
  createHash('sha256')
    .update(canonicalJson([...parts]))
    .digest('hex')
