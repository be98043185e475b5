/** Appends: a group of calls in one statement, and each call alone where that fails or an id is met again. */
import {
  contentDigest,
  noScenario,
  recordConflict,
  rowOf,
  type Appended,
  type NewRecord,
  type RecordRow,
  type Refusal,
  type RequestType,
} from '../../../src/contract/index.ts'
import { digestContext, type StoreSeal } from '../common/seal.ts'
import type { Database } from './connections.ts'
import type { ChangeFeed } from './feed.ts'
import type { PgClient } from './library.ts'
import { isAway, isDeadlock, isTakenId, refusalOf } from './refusals.ts'
import { bytesOf, RECORD_COLUMNS, recordRow, type RecordTuple } from './rows.ts'
import { openWhole, sealBody, type KeptBody } from './sealed.ts'
import { bodyBytes, runAppend, type Counter, type KeyedRecord } from './statements.ts'
import type { Pipe } from './pipe.ts'
import type { Trying } from './trying.ts'
import type { AppendCall, Writer } from './writes.ts'

interface AppendNeeds {
  readonly connections: Database
  readonly feed: ChangeFeed
  readonly trying: Trying
  readonly seal: StoreSeal
  /** Called with what is durable, before its promise resolves. */
  readonly onAppended: (key: number, bytes: number) => void
}

interface KeyedCall {
  readonly call: AppendCall
  readonly key: number
}

export function makeAppend({ connections, feed, trying, seal, onAppended }: AppendNeeds): Writer {
  let lastSealed: Promise<unknown> = Promise.resolve()

  return { pipe: () => connections.pipe(), write }

  async function write(calls: readonly AppendCall[], pipe: Pipe, before: Promise<void>): Promise<void> {
    const together = calls.flatMap((call) => {
      const key = feed.keyOf(call.scenario)
      return key === undefined || call.records.length === 0 ? [] : [{ call, key }]
    })
    const alone = new Set(calls)
    try {
      for (const call of await appendTogether(together, pipe)) alone.delete(call)
    } catch (error) {
      // It is unknown what became of them, or one of them cannot be written: each is looked up and written alone.
      if (!isTakenId(error) && !isAway(error) && !isDeadlock(error)) return refuseAll(calls, error)
    }
    if (alone.size > 0) await before
    for (const call of alone) {
      const failure = await appendAlone(call)
      if (failure === null) alone.delete(call)
      // Who comes after one that waited in vain does not wait as long again.
      else if (failure.code === 'store_unreachable') return alone.forEach(({ settle: { reject } }) => reject(failure))
    }
  }

  /** Answers those that are written. The others are of scenarios that are not there under the key that was known. */
  async function appendTogether(calls: readonly KeyedCall[], pipe: Pipe): Promise<readonly AppendCall[]> {
    if (calls.length === 0) return []
    const groups =
      seal.writesWith === null
        ? calls.map(({ call, key }) => call.records.map((record) => ({ key, record, sealed: null })))
        : await inOrder(Promise.all(calls.map(({ call, key }) => Promise.all(call.records.map((record) => keyed(seal, key, record))))))
    const counters = await pipe.run((client) => runAppend(client, groups.flat()))
    trying.succeeded()
    const heads = new Map(counters.map((counter) => [counter.key, { ...counter }]))
    return calls.flatMap(({ call, key }, index) => {
      const counter = heads.get(key)
      if (counter === undefined) return []
      const rows = call.records.map((record, place) => rowOf(record, counter.head + place + 1))
      heads.set(key, { ...counter, head: counter.head + rows.length })
      settle(call, key, { rows, step: counter.step }, rows, storedBytes(groups[index] ?? []))
      return [call]
    })
  }

  /** Groups are encrypted at the same time, and sent in the order they came. */
  function inOrder<T>(sealing: Promise<T>): Promise<T> {
    const sealed = lastSealed.then(() => sealing)
    lastSealed = sealed.catch(() => undefined)
    return sealed
  }

  /** Answers what it was refused with. */
  async function appendAlone(call: AppendCall): Promise<Refusal | null> {
    try {
      const { key, appended, added, bytes } = await trying.run(() => connections.rawTransaction((client) => appendCall(client, seal, call)))
      settle(call, key, appended, added, bytes)
      return null
    } catch (error) {
      const refusal = refusalOf(error)
      call.settle.reject(refusal)
      return refusal
    }
  }

  function settle(call: AppendCall, key: number, appended: Appended, added: readonly RecordRow[], bytes: number): void {
    if (added.length > 0) {
      onAppended(key, bytes)
      feed.see({ key, name: call.scenario, newest: newestOf(added) })
    }
    call.settle.resolve(appended)
  }

  function refuseAll(calls: readonly AppendCall[], error: unknown): void {
    const refusal = trying.failed(error)
    for (const call of calls) call.settle.reject(refusal)
  }
}

async function keyed(seal: StoreSeal, key: number, record: NewRecord): Promise<KeyedRecord> {
  const sealed = seal.writesWith === null ? null : await sealBody(seal, key, record.agent_record_id, joined(record))
  return { key, record, sealed }
}

async function appendCall(client: PgClient, seal: StoreSeal, { scenario, records }: AppendCall) {
  const { rows: counters } = await client.query<Counter>({
    text: 'SELECT key, head, step FROM scenario WHERE name = $1 FOR UPDATE',
    values: [bytesOf(scenario)],
  })
  const [counter] = counters
  if (counter === undefined) throw noScenario(scenario)
  const stored = await selectStored(client, seal, counter.key, records)
  const fresh = new Map<string, { readonly record: NewRecord; readonly row: RecordRow }>()
  const rows = records.map((record) => {
    const id = record.agent_record_id
    const known = stored.get(id)
    if (known !== undefined) return sameOrConflict(known.row, known.digest(), record)
    const before = fresh.get(id)
    if (before !== undefined) return sameOrConflict(before.row, digestOf(before.record), record)
    const row = rowOf(record, counter.head + fresh.size + 1)
    fresh.set(id, { record, row })
    return row
  })
  const added = [...fresh.values()]
  const written = await Promise.all(added.map(({ record }) => keyed(seal, counter.key, record)))
  if (written.length > 0) await runAppend(client, written)
  return { key: counter.key, appended: { rows, step: counter.step }, added: added.map(({ row }) => row), bytes: storedBytes(written) }
}

const storedBytes = (records: readonly KeyedRecord[]): number => records.reduce((sum, record) => sum + bodyBytes(record), 0)

interface StoredRow {
  readonly row: RecordRow
  readonly digest: () => string
}

/** After the counter is locked, so that nothing is added to them meanwhile. */
async function selectStored(
  client: PgClient,
  seal: StoreSeal,
  key: number,
  records: readonly NewRecord[],
): Promise<ReadonlyMap<string, StoredRow>> {
  if (records.length === 0) return new Map()
  const { rows } = await client.query<RecordTuple & KeptBody & { digest: Buffer | null }>({
    text: `SELECT ${RECORD_COLUMNS}, b.payload, b.size, e.digest FROM record r LEFT JOIN body b ON b.age = r.age
           LEFT JOIN evicted e ON e.scenario = r.scenario AND e.sequence = r.sequence
           WHERE r.scenario = $1 AND r.id = ANY($2::bytea[])`,
    values: [key, records.map(({ agent_record_id }) => bytesOf(agent_record_id))],
  })
  return new Map(
    rows.map((columns) => {
      const row = recordRow(columns)
      const id = row.agent_record_id
      const kept = () => (columns.digest === null ? '' : seal.openDigest(columns.digest, digestContext(key, id)))
      // What cannot be read equals nothing.
      const ofBody = (payload: Buffer | null) => (payload === null ? '' : contentDigest({ ...row, payload }))
      return [id, { row, digest: () => (columns.payload === null ? kept() : ofBody(openWhole(seal, key, id, columns))) }]
    }),
  )
}

function sameOrConflict(row: RecordRow, digest: string, record: NewRecord): RecordRow {
  if (digest === digestOf(record)) return row
  throw recordConflict(record.agent_record_id)
}

const joined = ({ pieces, payload }: NewRecord): Uint8Array => (pieces === undefined ? payload : Buffer.concat(pieces))
const digestOf = (record: NewRecord): string => contentDigest({ ...record, payload: joined(record) })

function newestOf(rows: readonly RecordRow[]): Partial<Record<RequestType, number>> {
  return Object.fromEntries(rows.map(({ request_type, sequence }) => [request_type, sequence]))
}
