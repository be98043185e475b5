/**
 * Pointers: one ref per scenario, moved by `git update-ref --stdin`. While one git process runs, every point asked for waits and
 * goes into the next one together, so a thousand scenarios publishing at once cost a handful of processes.
 */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { REF, conflict, invalid, unknown } from '../../../src/contract/index.ts'
import { GitError, REF_LOCK_WAIT_MILLIS, git } from './process.ts'

/** A lock that outlived everyone's patience is a dead process's. Below the wait, so that who waited in vain finds it old enough. */
const STALE_LOCK_MILLIS = REF_LOCK_WAIT_MILLIS - 1000
/** A ref is a file and its lock a longer-named one; most file systems end names at 255 bytes. */
const SEGMENT_CHARACTERS_MAX = 240
const LOCK = '.lock'

interface Move {
  readonly ref: string
  readonly releaseId: string
  readonly done: readonly PromiseWithResolvers<void>[]
}
/** By ref, in the order asked; of several moves of one ref the last says where it ends, and all who asked hear of it. */
type Gathering = Map<string, Move>

export class Refs {
  readonly #repository: string
  #tail: Promise<void> = Promise.resolve()
  #gathering: Gathering | null = null

  constructor(repository: string) {
    this.#repository = repository
  }

  point(scenario: string, releaseId: string): Promise<void> {
    const ref = scenarioRef(scenario)
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
    await this.#turn(() => this.#rename(from, to))
    return to
  }

  async idle(): Promise<void> {
    await this.#tail
  }

  /** Removes the locks of git processes that were killed. */
  async sweep(): Promise<void> {
    const root = join(this.#repository, 'refs', 'reef')
    const names = await readdir(root, { recursive: true }).catch(() => [])
    const locks = names.filter((name) => name.endsWith(LOCK)).map((name) => join(root, name))
    await Promise.all([...locks, join(this.#repository, `packed-refs${LOCK}`)].map(removeWhenStale))
  }

  #gather(): Gathering {
    const gathering: Gathering = new Map()
    this.#gathering = gathering
    void this.#turn(async () => {
      if (this.#gathering === gathering) this.#gathering = null
      await this.#apply([...gathering.values()])
    })
    return gathering
  }

  #turn(task: () => Promise<void>): Promise<void> {
    const turn = this.#tail.then(task)
    this.#tail = turn.catch(() => undefined)
    return turn
  }

  /** All in one transaction; when git refuses it, half by half, so that a bad move fails alone. */
  async #apply(moves: readonly Move[]): Promise<void> {
    try {
      await this.#update(moves.map((move) => `update ${move.ref} ${move.releaseId}`))
      for (const done of moves.flatMap((move) => move.done)) done.resolve()
    } catch (error) {
      const [first, ...others] = moves
      if (first === undefined) return
      if (others.length === 0) return first.done.forEach((done) => done.reject(refusalOf(error, first.releaseId)))
      const half = Math.ceil(moves.length / 2)
      await this.#apply(moves.slice(0, half))
      await this.#apply(moves.slice(half))
    }
  }

  async #rename(from: string, to: string): Promise<void> {
    const releaseId = await this.#resolve(from)
    if (releaseId === null) return
    try {
      await this.#update([`create ${to} ${releaseId}`, `delete ${from} ${releaseId}`])
    } catch (error) {
      if (!saysGit(error, 'already exists')) throw error
      throw conflict('archive_exists', 'an archive of this name exists already; choose another')
    }
  }

  async #resolve(ref: string): Promise<string | null> {
    const answer = await git([`--git-dir=${this.#repository}`, 'for-each-ref', '--format=%(objectname) %(refname)', ref])
    const line = answer
      .toString()
      .split('\n')
      .find((found) => found.endsWith(` ${ref}`))
    return line?.split(' ', 1)[0] ?? null
  }

  async #update(lines: readonly string[]): Promise<void> {
    const args = [`--git-dir=${this.#repository}`, 'update-ref', '--stdin']
    const transaction = ['start', ...lines, 'prepare', 'commit', ''].join('\n')
    try {
      await git(args, transaction)
    } catch (error) {
      if (!saysGit(error, LOCK)) throw error
      await this.sweep()
      await git(args, transaction)
    }
  }
}

export function scenarioRef(scenario: string): string {
  return REF.scenarios + encodeName(scenario)
}

function archivedRef(scenario: string, as: string): string {
  if (as === '') throw invalid('bad_archive_name', 'the name of an archive must not be empty')
  return `${REF.archived}${encodeName(scenario)}/${escapeSegment(as)}`
}

/** A long name becomes folders that end in `+`, a character of no encoded name: no scenario's ref can be another's folder. */
function encodeName(scenario: string): string {
  const text = Buffer.from(scenario).toString('base64url')
  if (text === '') throw invalid('bad_scenario', 'the name of a scenario must not be empty')
  return text.replace(new RegExp(`.{${SEGMENT_CHARACTERS_MAX}}(?=.)`, 'g'), '$&+/')
}

/** What git forbids in a ref is percent-encoded: its special characters, and dots where they would mean something. */
function escapeSegment(text: string): string {
  return encodeURIComponent(text)
    .replaceAll('~', '%7E')
    .replaceAll('*', '%2A')
    .replace(/^\.|\.(?=\.|lock$|$)/g, '%2E')
}

async function removeWhenStale(lock: string): Promise<void> {
  const found = await stat(lock).catch(() => null)
  if (found !== null && Date.now() - found.mtimeMs > STALE_LOCK_MILLIS) await rm(lock, { force: true })
}

export const noRelease = (releaseId: string): Error =>
  unknown('unknown_release', `release ${releaseId} is not in this repository; seal it first`)

const refusalOf = (error: unknown, releaseId: string): unknown => (saysGit(error, 'nonexistent object') ? noRelease(releaseId) : error)

const saysGit = (error: unknown, words: string): boolean => error instanceof GitError && error.stderr.includes(words)
