/** Scores that are known already: the same content, task, model and repeat is the same episode, and nobody pays for it twice. */
import { createHash } from 'node:crypto'
import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { canonicalJson, type Episode, type Json } from '../contract/index.ts'
import { writeAtomicFile } from '../kit/index.ts'

/** A file of more lines is written again with the newest half. */
const LINES_MAX = 20_000

/** Episodes that proposers studied, kept in memory for the next time: so many, each up to so much of JSON. */
const EPISODES_MAX = 256
const EPISODE_BYTES_MAX = 256 * 1024

export interface Known {
  readonly score: number
  readonly failure: string | null
}

export class EpisodeCache {
  readonly #path: string
  readonly #known: Map<string, Known>
  readonly #episodes = new Map<string, Episode>()

  private constructor(path: string, known: Map<string, Known>) {
    this.#path = path
    this.#known = known
  }

  /** A cache that cannot be read is an empty one: it only ever saves work. */
  static async open(path: string): Promise<EpisodeCache> {
    const text = await readFile(path, 'utf8').catch(() => '')
    // A line that a crash cut short must not take the next one with it.
    if (text !== '' && !text.endsWith('\n')) await appendFile(path, '\n').catch(() => undefined)
    const known = new Map(text.split('\n').flatMap(readLine))
    const cache = new EpisodeCache(path, known)
    if (known.size > LINES_MAX) await cache.#shrink().catch(() => undefined)
    return cache
  }

  get(key: string): Known | null {
    return this.#known.get(key) ?? null
  }

  /** What was studied before, as far as it is still there. */
  episode(key: string): Episode | null {
    return this.#episodes.get(key) ?? null
  }

  study(key: string, episode: Episode): void {
    if (printedBytes(episode) > EPISODE_BYTES_MAX) return
    this.#episodes.set(key, episode)
    const [oldest] = this.#episodes.keys()
    if (this.#episodes.size > EPISODES_MAX && oldest !== undefined) this.#episodes.delete(oldest)
  }

  /** Kept for later steps as far as the disk allows. */
  async put(key: string, value: Known): Promise<void> {
    if (this.#known.has(key)) return
    this.#known.set(key, value)
    const line = `${JSON.stringify([key, value.score, value.failure])}\n`
    await mkdir(dirname(this.#path), { recursive: true })
      .then(() => appendFile(this.#path, line))
      .catch(() => undefined)
  }

  async #shrink(): Promise<void> {
    const kept = [...this.#known].slice(-LINES_MAX / 2)
    this.#known.clear()
    for (const [key, value] of kept) this.#known.set(key, value)
    await writeAtomicFile(this.#path, kept.map(([key, { score, failure }]) => `${JSON.stringify([key, score, failure])}\n`).join(''))
  }
}

/** What an agent left may be nested deeper than anybody can print. */
function printedBytes(episode: Episode): number {
  try {
    return Buffer.byteLength(JSON.stringify(episode))
  } catch {
    return Infinity
  }
}

/** A line that a crash cut short, or that is none of ours, is left out. */
function readLine(line: string): readonly [string, Known][] {
  try {
    const [key, score, failure]: readonly unknown[] = JSON.parse(line)
    if (typeof key !== 'string' || typeof score !== 'number') return []
    return [[key, { score, failure: typeof failure === 'string' ? failure : null }]]
  } catch {
    return []
  }
}

/** Everything that the outcome of an episode may depend on. */
export const cacheKey = (parts: readonly Json[]): string =>
  createHash('sha256')
    .update(canonicalJson([...parts]))
    .digest('hex')
