/** Pointers and holds in a bucket: an object each, which holds the id of a release and changes by compare-and-swap. */
import { conflict } from '../../../src/contract/index.ts'
import { LaneByName } from '../../../src/kit/index.ts'
import { settleGoals, type Change, type Find, type Goal, type RefPlace } from '../common/refs/goals.ts'
import { archivedRef, scenarioRef } from '../common/refs/ref-names.ts'
import type { Bucket, Condition } from './bucket.ts'

const ATTEMPTS_MAX = 5

export class BucketRefs {
  readonly #bucket: Bucket
  readonly #find: Find
  /** The moves of one ref in the order asked. */
  readonly #lanes = new LaneByName()
  readonly #running = new Set<Promise<unknown>>()

  constructor(bucket: Bucket, find: Find) {
    this.#bucket = bucket
    this.#find = find
  }

  move(goal: Goal): Promise<void> {
    return this.#inLane(goal.ref, async () => {
      const place = new RefsConcerned(this.#bucket, [goal.ref])
      await place.refresh()
      const failures = await settleGoals(place, [goal], this.#find)
      if (failures.has(goal.ref)) throw failures.get(goal.ref)
    })
  }

  /** A scenario without a pointer leaves nothing to rename. */
  archive(scenario: string, as: string): Promise<string> {
    const from = scenarioRef(scenario)
    const to = archivedRef(scenario, as)
    return this.#inLane(from, async () => {
      for (let attempt = 1; ; attempt += 1) {
        const place = new RefsConcerned(this.#bucket, [from, to])
        await place.refresh()
        const releaseId = place.known.get(from)
        if (releaseId === undefined) return to
        // What an attempt of this very call wrote is no other archive.
        if (attempt === 1 && place.known.has(to)) throw conflict('archive_exists', 'an archive of this name exists already; choose another')
        const renaming: readonly Change[] = [
          ...(place.known.has(to) ? [] : [{ ref: to, from: null, to: releaseId }]),
          { ref: from, from: releaseId, to: null },
        ]
        const moved = await place.change(renaming).catch((error: unknown) => error)
        if (moved === undefined) return to
        if (!(moved instanceof MovedMeanwhile) || attempt === ATTEMPTS_MAX) throw moved
      }
    })
  }

  async idle(): Promise<void> {
    await Promise.allSettled(this.#running)
  }

  #inLane<T>(ref: string, task: () => Promise<T>): Promise<T> {
    const run = this.#lanes.run(ref, task)
    const settled: Promise<unknown> = run.then(
      () => this.#running.delete(settled),
      () => this.#running.delete(settled),
    )
    this.#running.add(settled)
    return run
  }
}

class MovedMeanwhile extends Error {
  constructor() {
    super('another process moved the pointer first')
  }
}

/** A few refs of the bucket, read for one move. */
class RefsConcerned implements RefPlace {
  readonly #bucket: Bucket
  readonly #refs: Set<string>
  readonly #known = new Map<string, string>()
  readonly #tags = new Map<string, string>()

  constructor(bucket: Bucket, refs: readonly string[]) {
    this.#bucket = bucket
    this.#refs = new Set(refs)
  }

  get known(): ReadonlyMap<string, string> {
    return this.#known
  }

  async refresh(): Promise<void> {
    const read = async (ref: string): Promise<void> => {
      const object = await this.#bucket.get(ref)
      this.#known.delete(ref)
      if (object === null) return
      this.#known.set(ref, object.bytes.toString().trim())
      this.#tags.set(ref, object.tag)
    }
    await Promise.all(Array.from(this.#refs, read))
  }

  /** One after the other, since a bucket has no transactions. The first of two keeps what the second takes away, so that one alone loses nothing. */
  async change(changes: readonly Change[]): Promise<void> {
    for (const { ref, from, to } of changes) {
      this.#refs.add(ref)
      const tag = this.#tags.get(ref) ?? ''
      const condition: Condition = from === null ? { kind: 'absent' } : { kind: 'unchanged', tag }
      const isDone = to === null ? await this.#bucket.remove(ref, tag) : await this.#bucket.put(ref, Buffer.from(`${to}\n`), condition)
      if (!isDone) throw new MovedMeanwhile()
    }
  }
}
