/** Takes the oldest bodies when they are more than capacity, a turn at a time, by one member at a time. */
import { contentDigest, HOUSEKEEPING_ROWS_PER_TURN, type Losses } from '../../../src/contract/index.ts'
import { digestContext, type StoreSeal } from '../common/seal.ts'
import type { Database } from './connections.ts'
import type { PgClient } from './library.ts'
import { RECORD_COLUMNS, recordRow, type RecordTuple } from './rows.ts'
import { openWhole, type KeptBody } from './sealed.ts'

/** Digesting reads every byte, so a turn of large bodies ends before its rows are used up. */
export const EVICTED_BYTES_PER_TURN = 16 * 1024 * 1024
/** Over capacity by more than this share, appends wait until eviction has caught up, so that the bound is a bound. */
const LAG_SHARE_MAX = 1 / 16
/** Others append too: how much is kept is counted again after this long. */
const COUNT_AGAIN_MS = 1000
export const TIDY_LOCK = 0x73_76_63_02

export const OLD_BODY_COLUMNS = `b.age, b.scenario, s.name, octet_length(b.payload) AS bytes, ${RECORD_COLUMNS}`

export interface OldBody extends RecordTuple {
  readonly age: number
  readonly scenario: number
  readonly name: Buffer
  readonly bytes: number
}

type OnLoss = (scenario: string, lost: Losses) => void

export class Tidy {
  readonly #connections: Database
  readonly #seal: StoreSeal
  readonly #capacityBytes: number
  readonly #onLoss: OnLoss
  /** What was counted last, and what came here since. */
  #knownBytes = Number.POSITIVE_INFINITY
  #countedAt = 0
  /** Bodies of archived scenarios stay, and are not walked over again. */
  #afterAge = 0
  #turns: Promise<void> | null = null

  constructor(connections: Database, seal: StoreSeal, capacityBytes: number, onLoss: OnLoss) {
    this.#connections = connections
    this.#seal = seal
    this.#capacityBytes = capacityBytes
    this.#onLoss = onLoss
  }

  added(bytes: number): void {
    this.#knownBytes += bytes
    if (this.#knownBytes > this.#capacityBytes || performance.now() - this.#countedAt > COUNT_AGAIN_MS) void this.#run()
  }

  /** Resolves once an append may add to what is kept. */
  async room(): Promise<void> {
    if (this.#turns !== null && this.#knownBytes > this.#capacityBytes * (1 + LAG_SHARE_MAX)) await this.#turns
  }

  idle(): Promise<void> {
    return this.#turns ?? Promise.resolve()
  }

  #run(): Promise<void> {
    this.#turns ??= this.#runTurns()
      .catch(() => undefined)
      .finally(() => (this.#turns = null))
    return this.#turns
  }

  /** What keeps a turn from being made keeps it from the next one too: the next append brings the next try. */
  async #runTurns(): Promise<void> {
    for (let isOver = false; !isOver;) {
      const { lost, isDone } = await this.#connections.transaction((client) => this.#turn(client))
      for (const [scenario, losses] of lost) this.#onLoss(scenario, losses)
      isOver = isDone
    }
  }

  async #turn(client: PgClient): Promise<{ readonly lost: ReadonlyMap<string, Losses>; readonly isDone: boolean }> {
    const { rows: locks } = await client.query<{ isFree: boolean }>({
      text: 'SELECT pg_try_advisory_xact_lock($1, hashtext(current_schema())) AS "isFree"',
      values: [TIDY_LOCK],
    })
    if (locks[0]?.isFree !== true) return { lost: new Map(), isDone: true }
    const { rows: sums } = await client.query<{ bytes: number }>({
      text: 'SELECT coalesce(sum(body_bytes), 0)::bigint AS bytes FROM scenario WHERE name IS NOT NULL',
    })
    this.#knownBytes = sums[0]?.bytes ?? 0
    this.#countedAt = performance.now()
    const excess = this.#knownBytes - this.#capacityBytes
    if (excess <= 0) return { lost: new Map(), isDone: true }
    const oldest = await this.#oldest(client, excess)
    const lost = await evict(client, this.#seal, oldest)
    for (const { bytes } of lost.values()) this.#knownBytes -= bytes
    return { lost, isDone: oldest.length === 0 }
  }

  /** As many as have to go, within the bounds of a turn. Also a lone body larger than all capacity goes. */
  async #oldest(client: PgClient, excess: number): Promise<readonly OldBody[]> {
    const found = await selectOldest(client, this.#afterAge)
    if (found.length === 0 && this.#afterAge > 0) {
      // One with an earlier age may have been committed later.
      this.#afterAge = 0
      return this.#oldest(client, excess)
    }
    const taken: OldBody[] = []
    let bytes = 0
    for (const body of found) {
      if (bytes >= Math.min(excess, EVICTED_BYTES_PER_TURN)) break
      taken.push(body)
      bytes += body.bytes
    }
    this.#afterAge = taken.at(-1)?.age ?? this.#afterAge
    return taken
  }
}

async function selectOldest(client: PgClient, afterAge: number): Promise<readonly OldBody[]> {
  const { rows } = await client.query<OldBody>({
    text: `SELECT ${OLD_BODY_COLUMNS} FROM body b
           JOIN scenario s ON s.key = b.scenario AND s.name IS NOT NULL JOIN record r ON r.scenario = b.scenario AND r.sequence = b.sequence
           WHERE b.age > $1 ORDER BY b.age LIMIT ${HOUSEKEEPING_ROWS_PER_TURN}`,
    values: [afterAge],
  })
  return rows
}

/** Digests come first: the counters are locked as briefly as possible, and in the order of their keys like everywhere. */
export async function evict(
  client: PgClient,
  seal: StoreSeal,
  bodies: readonly OldBody[],
  cause: 'lost' | 'expired' = 'lost',
): Promise<ReadonlyMap<string, Losses>> {
  if (bodies.length === 0) return new Map()
  const digests = await digestsOf(client, seal, bodies)
  const { rows: live } = await client.query<{ key: number }>({
    text: 'SELECT key FROM scenario WHERE key = ANY($1::bigint[]) AND name IS NOT NULL ORDER BY key FOR UPDATE',
    values: [[...new Set(bodies.map(({ scenario }) => scenario))]],
  })
  const keys = new Set(live.map(({ key }) => key))
  const gone = bodies.filter(({ scenario }) => keys.has(scenario))
  await client.query({
    text: `INSERT INTO evicted (scenario, sequence, digest) SELECT scenario, sequence, decode(digest, 'hex')
           FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS gone (scenario, sequence, digest)`,
    values: [gone.map(({ scenario }) => scenario), gone.map(({ sequence }) => sequence), gone.map(({ age }) => digests.get(age) ?? '')],
  })
  await client.query({ text: 'DELETE FROM body WHERE age = ANY($1::bigint[])', values: [gone.map(({ age }) => age)] })
  await client.query({
    text: `UPDATE scenario s SET body_bytes = body_bytes - lost.bytes,
             ${cause}_records = ${cause}_records + lost.records, ${cause}_bytes = ${cause}_bytes + lost.bytes
           FROM (SELECT key, count(*) AS records, sum(bytes) AS bytes FROM unnest($1::bigint[], $2::bigint[]) AS gone (key, bytes) GROUP BY key) lost
           WHERE s.key = lost.key`,
    values: [gone.map(({ scenario }) => scenario), gone.map(({ bytes }) => bytes)],
  })
  const lost = new Map<string, Losses>()
  for (const { name, bytes } of gone) {
    const { records, bytes: before } = lost.get(name.toString()) ?? { records: 0, bytes: 0 }
    lost.set(name.toString(), { records: records + 1, bytes: before + bytes })
  }
  return lost
}

async function digestsOf(client: PgClient, seal: StoreSeal, bodies: readonly OldBody[]): Promise<ReadonlyMap<number, string>> {
  const { rows } = await client.query<KeptBody & { age: number }>({
    text: 'SELECT age, payload, size FROM body WHERE age = ANY($1::bigint[])',
    values: [bodies.map(({ age }) => age)],
  })
  const kept = new Map(rows.map((row) => [row.age, row]))
  return new Map(
    bodies.map((body) => {
      const row = recordRow(body)
      const found = kept.get(body.age) ?? { payload: null, size: null }
      // What cannot be read is known by the bytes that were there, and so equals nothing that is sent again.
      const payload = openWhole(seal, body.scenario, row.agent_record_id, found) ?? found.payload ?? new Uint8Array()
      const digest = contentDigest({ ...row, payload })
      return [body.age, seal.sealDigest(digest, digestContext(body.scenario, row.agent_record_id)).toString('hex')]
    }),
  )
}
