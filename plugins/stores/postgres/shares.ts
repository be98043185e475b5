/** Shares of what all services over the database may take together. The counting is a function of the database: a call is one statement. */
import { hash } from 'node:crypto'
import { type ShareAsk, type SharesTaken, type ShareStore, type ShareWindow } from '../../../src/contract/index.ts'
import type { Database } from './connections.ts'
import { IS_ALIVE, LIFETIME_SECONDS } from './membership.ts'
import { memberGone } from './refusals.ts'

interface GrantRow {
  readonly granted: number
  readonly window_now: number
  readonly ends_in: number
  readonly members: number
}

const TAKE = 'SELECT granted, window_now, ends_in, members FROM take_shares($1, $2, $3)'
const USED = `SELECT w.at, a.carried + coalesce((
    SELECT sum(s.spent + CASE WHEN EXISTS (SELECT 1 FROM member WHERE id = s.member AND ${IS_ALIVE}) THEN s.held ELSE 0 END)
    FROM share s WHERE s.key = a.key), 0) AS used
  FROM unnest($1::text[], $2::double precision[]) WITH ORDINALITY AS w (key, seconds, at) JOIN allowance a ON a.key = decode(w.key, 'hex')
  WHERE w.seconds = 0 OR a.window_index = floor(extract(epoch FROM clock_timestamp()) / w.seconds)`

export const makeShares = (connections: Database, memberNow: () => number | null): ShareStore => ({
  take: (asks) => takeShares(connections, memberNow(), asks),
  used: (windows) => readUsed(connections, windows),
})

async function takeShares(connections: Database, member: number | null, asks: readonly ShareAsk[]): Promise<SharesTaken> {
  if (member === null) throw memberGone()
  const keyed = asks.map(({ window, ...ask }, at) => ({ at, ask: { ...ask, key: keyOf(ask.key), of_window: window } }))
  keyed.sort((a, b) => (a.ask.key < b.ask.key ? -1 : 1))
  const rows = await connections.rows<GrantRow>({
    name: 'take-shares',
    text: TAKE,
    values: [member, LIFETIME_SECONDS, JSON.stringify(keyed.map(({ ask }) => ask))],
  })
  if (rows.length < asks.length) throw memberGone()
  const grants = keyed
    .map(({ at }, place) => ({ at, row: rows[place] }))
    .sort((a, b) => a.at - b.at)
    .map(({ row }) => ({ granted: row?.granted ?? 0, window: row?.window_now ?? 0, endsInSeconds: row?.ends_in ?? 0 }))
  return { member, members: rows[0]?.members ?? 1, grants }
}

async function readUsed(connections: Database, windows: readonly ShareWindow[]): Promise<readonly number[]> {
  const rows = await connections.rows<{ at: number; used: number }>({
    name: 'used-shares',
    text: USED,
    values: [windows.map(({ key }) => keyOf(key)), windows.map(({ seconds }) => seconds)],
  })
  const used = windows.map(() => 0)
  for (const row of rows) used[row.at - 1] = row.used
  return used
}

/** A key names a token or a scenario: its hash is as good, and short. */
const keyOf = (key: string): string => hash('sha256', key).slice(0, 32)
