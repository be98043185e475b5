/** The board of the fleet in the database: one gateway at a time changes it, and the others are told with the transaction. */
import {
  FLEET_KINDS,
  noFleetRows,
  type CountedCall,
  type FleetBoard,
  type FleetRows,
  type JsonObject,
  type LeaseRow,
  type PayloadKind,
} from '../../../src/contract/index.ts'
import type { Database } from './connections.ts'
import type { PgClient } from './library.ts'

/** Of this store, among all advisory locks of the database. */
const FLEET_LOCK = 0x73_76_63_06
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::double precision'
const SELECT_ALL = `SELECT kind, id, at, value::text AS value FROM fleet UNION ALL SELECT '', '', ${NOW}, ''`
const UPSERT = `INSERT INTO fleet (kind, id, at, value) SELECT * FROM unnest($1::text[], $2::text[], $3::double precision[], $4::json[])
  ON CONFLICT (kind, id) DO UPDATE SET value = excluded.value,
    at = CASE WHEN fleet.kind IN ('leases', 'workers') THEN greatest(fleet.at, excluded.at) ELSE excluded.at END`
const DELETE = `DELETE FROM fleet f USING unnest($1::text[], $2::text[]) AS gone (kind, id) WHERE f.kind = gone.kind AND f.id = gone.id`
const KEEP = `INSERT INTO fleet_payload (episode, kind, value) VALUES ($1, $2, $3)
  ON CONFLICT (episode, kind) DO UPDATE SET value = excluded.value`
const LEAVE_CALLS = `UPDATE fleet_call c SET episode = coalesce(gone.left_under, c.episode)
  FROM unnest($1::text[], $2::text[]) AS gone (id, left_under) WHERE c.episode = gone.id`
const BEAT = `WITH lease AS (
    UPDATE fleet SET at = ${NOW} WHERE kind = 'leases' AND id = $1 AND value->>'worker' = $2 RETURNING id),
  worker AS (UPDATE fleet SET at = ${NOW} WHERE kind = 'workers' AND id = $2 AND EXISTS (SELECT 1 FROM lease))
  SELECT id FROM lease`

type Kind = (typeof FLEET_KINDS)[number]
interface StoredRow {
  readonly kind: Kind | ''
  readonly id: string
  readonly at: number
  readonly value: string
}

interface BoardNeeds {
  readonly connections: Database
  readonly change: <T>(work: (client: PgClient) => Promise<T>) => Promise<T>
  /** Tells the other gateways when the transaction is committed. */
  readonly announce: (client: PgClient) => Promise<void>
  readonly onChange: (listener: () => void) => void
}

export function openFleet({ connections, change, announce, onChange }: BoardNeeds): FleetBoard {
  return {
    change: (work) =>
      change(async (client) => {
        await client.query({ text: 'SELECT pg_advisory_xact_lock($1, hashtext(current_schema()))', values: [FLEET_LOCK] })
        const { rows: stored } = await client.query<StoredRow>({ text: SELECT_ALL })
        const board = readBoard(stored)
        const result = work(board.rows)
        if (await writeChanges(client, stored, board)) await announce(client)
        return result
      }),
    async beat(worker, lease) {
      return (await connections.rows({ name: 'fleet-beat', text: BEAT, values: [lease, worker] })).length > 0
    },
    async leaseWith(keyDigest) {
      const [found] = await connections.rows<{ value: LeaseRow }>({
        text: `SELECT value FROM fleet WHERE kind = 'leases' AND value->>'key' = $1`,
        values: [keyDigest],
      })
      return found?.value ?? null
    },
    async called(episode, left, { model, input, output, cost }) {
      // The row is locked, so that it does not go between the look and the insert.
      await connections.rows({
        text: `WITH there AS (SELECT id FROM fleet WHERE kind = 'episodes' AND id = $1 FOR KEY SHARE)
               INSERT INTO fleet_call (episode, model, input, output, cost)
               SELECT coalesce((SELECT id FROM there), $6), $2, $3, $4, $5`,
        values: [episode, model === null ? null : Buffer.from(model), input, output, cost, left],
      })
    },
    async calls(episode) {
      const text = 'SELECT model, input, output, cost FROM fleet_call WHERE episode = $1'
      return (await connections.rows<StoredCall>({ text, values: [episode] })).map(readCall)
    },
    async takeCalls(episodes) {
      const text = 'DELETE FROM fleet_call WHERE episode = ANY($1::text[]) RETURNING model, input, output, cost'
      return (await connections.rows<StoredCall>({ text, values: [episodes] })).map(readCall)
    },
    async payload(episode, kind) {
      const [found] = await connections.rows<{ value: Buffer }>({
        text: 'SELECT value FROM fleet_payload WHERE episode = $1 AND kind = $2',
        values: [episode, kind],
      })
      return found === undefined ? null : JSON.parse(found.value.toString())
    },
    onChange,
  }
}

type StoredCall = Omit<CountedCall, 'model'> & { readonly model: Buffer | null }

const readCall = ({ model, ...counts }: StoredCall): CountedCall => ({ model: model?.toString() ?? null, ...counts })

interface ReadBoard {
  readonly rows: FleetRows
  readonly payloads: { readonly episode: string; readonly kind: PayloadKind; readonly value: JsonObject }[]
}

function readBoard(stored: readonly StoredRow[]): ReadBoard {
  const payloads: ReadBoard['payloads'] = []
  const all = noFleetRows()
  for (const { kind, id, at, value } of stored) if (kind !== '') all[kind].set(id, { ...JSON.parse(value), at })
  const now = stored.find(({ kind }) => kind === '')?.at ?? 0
  return { payloads, rows: { ...all, now, keep: (episode, kind, value) => void payloads.push({ episode, kind, value }) } }
}

/** Answers whether others should look at it: that a gateway is there is no reason. */
async function writeChanges(client: PgClient, stored: readonly StoredRow[], { rows, payloads }: ReadBoard): Promise<boolean> {
  const before = new Map(stored.map((row) => [`${row.kind} ${row.id}`, row]))
  const changed: StoredRow[] = []
  for (const kind of FLEET_KINDS)
    for (const [id, { at, ...value }] of rows[kind]) {
      const text = JSON.stringify(value)
      const known = before.get(`${kind} ${id}`)
      if (known === undefined || known.at !== at || known.value !== text) changed.push({ kind, id, at, value: text })
    }
  const gone = stored.filter(({ kind, id }) => kind !== '' && !rows[kind].has(id))
  if (changed.length > 0)
    await client.query({
      text: UPSERT,
      values: [
        changed.map(({ kind }) => kind),
        changed.map(({ id }) => id),
        changed.map(({ at }) => at),
        changed.map(({ value }) => value),
      ],
    })
  if (gone.length > 0) await client.query({ text: DELETE, values: [gone.map(({ kind }) => kind), gone.map(({ id }) => id)] })
  for (const { episode, kind, value } of payloads)
    await client.query({ text: KEEP, values: [episode, kind, Buffer.from(JSON.stringify(value))] })
  const episodes = gone.filter(({ kind }) => kind === 'episodes')
  if (episodes.length > 0) {
    const ids = episodes.map(({ id }) => id)
    await client.query({ text: 'DELETE FROM fleet_payload WHERE episode = ANY($1::text[])', values: [ids] })
    const left = episodes.map(({ value }): string | null => Object(JSON.parse(value)).left ?? null)
    await client.query({ text: LEAVE_CALLS, values: [ids, left] })
  }
  return changed.some(({ kind }) => kind === 'episodes') || gone.some(({ kind }) => kind === 'episodes')
}
