/**
 * This process among those that have the store open: it beats, listens to what the others announce, and reads what changed. A
 * notification only says where to look; a poll each second finds what none told of.
 */
import type { Database } from './connections.ts'
import type { ChangeFeed, ScenarioState } from './feed.ts'
import type { LoneClient, PgClient } from './library.ts'
import { refusalOf } from './refusals.ts'

/** A member that did not beat for this long is gone, by the database's clock. */
export const LIFETIME_SECONDS = 10
/** A holder stops this much earlier, by its own clock. */
const MARGIN_SECONDS = 3
const BEAT_MS = 2000
const POLL_MS = 1000
const ANNOUNCE_MS = 100
const RECONNECT_MS = 250
/** Twice within what a member has left without a beat: one that hangs is tried again on another connection. */
const BEAT_MS_MAX = 2500
const READ_MS_MAX = 5000
/** NOTIFY takes less than 8,000 bytes. */
const ANNOUNCED_KEYS_MAX = 300
const FORGOTTEN_AFTER = '1 hour'
/** What was taken of a limit counts for a day. */
const UNUSED_AFTER = '2 days'
/** What a change of the tokens is announced as; scenarios count from 1. */
export const TOKENS_KEY = 0
/** The same of the fleet. */
export const FLEET_KEY = -1
/** Of this store, among all advisory locks of the database. */
const OPENING_LOCK = 0x73_76_63_01

export const IS_ALIVE = `beat_at > clock_timestamp() - interval '${LIFETIME_SECONDS} seconds'`

interface ScenarioColumns {
  readonly cursor: string
  readonly key: number | null
  readonly name: Buffer | null
  readonly archived_name: Buffer | null
  readonly step: number
  readonly inference: number
  readonly report: number
  readonly train: number
  readonly settings_changes: number
  readonly token_changes: number
}

const STATE_COLUMNS =
  's.key, s.name, s.archived_name, s.step, s.newest_inference AS inference, s.newest_report AS report, s.newest_train AS train, s.settings_changes'
/** The oldest transaction that this read may not have seen: the next read begins with it, and so skips none. */
const CURSOR = 'pg_snapshot_xmin(pg_current_snapshot())::text AS cursor'
const TOKEN_CHANGES = '(SELECT token_changes FROM deployment) AS token_changes'
const CHANGED = `SELECT ${CURSOR}, ${TOKEN_CHANGES}, ${STATE_COLUMNS} FROM (SELECT 1) one LEFT JOIN scenario s ON s.changed >= $1::xid8 ORDER BY s.key`
const ANNOUNCED = `SELECT '' AS cursor, 0::bigint AS token_changes, ${STATE_COLUMNS} FROM scenario s WHERE s.key = ANY($1::bigint[]) ORDER BY s.key`

/** Whether it opens the store, or comes back to it: then what was chosen at run time stays. */
export type JoinTime = 'first' | 'again'

export interface MembershipNeeds {
  readonly connections: Database
  readonly feed: ChangeFeed
  readonly schema: string
  /** Another member changed the board of the fleet. */
  readonly onFleet: () => void
  /** Nobody here may hold a lease any more. */
  readonly onLapse: () => void
  /** With every beat that went through, and with what failed. */
  readonly onBeat: (error: unknown) => void
}

export class Membership {
  readonly #needs: MembershipNeeds
  readonly #channel: string
  readonly #announced = new Set<number>()
  /** What others announced and is not read yet. */
  readonly #heard = new Set<number>()
  #client: LoneClient | null = null
  #id: number | null = null
  /** The name of one that serves. */
  #serves: string | null = null
  #cursor = '0'
  #isClosed = false
  #timers: NodeJS.Timeout[] = []
  #lapse: NodeJS.Timeout | null = null
  #announcing: NodeJS.Timeout | null = null
  #reading: Promise<void> | null = null
  #beating: Promise<void> | null = null
  #polling: Promise<void> | null = null

  constructor(needs: MembershipNeeds) {
    this.#needs = needs
    this.#channel = `svc_${needs.schema}`
  }

  /** Null while it counts as gone: until the next beat nobody here can take a lease. */
  get id(): number | null {
    return this.#id
  }

  async join(time: JoinTime): Promise<void> {
    const startedAt = performance.now()
    this.#id = await this.#needs.connections.transaction((client) => register(client, time, this.#serves))
    this.#live(startedAt)
    this.#client = await this.#listen().catch((error: unknown) => {
      throw refusalOf(error)
    })
    await this.#read()
    this.#every(BEAT_MS, () => this.#beat())
    this.#every(POLL_MS, () => this.#poll())
  }

  /** Kept also when it comes back as another member. */
  async serveAs(name: string): Promise<void> {
    this.#serves = name
    await this.#needs.connections.rows({ text: 'UPDATE member SET serves = $2 WHERE id = $1', values: [this.#id, name] })
  }

  /** Tells the others with the transaction, so that they hear of it when it is committed, and not otherwise. */
  async announce(client: PgClient, key: number): Promise<void> {
    await client.query({ text: 'SELECT pg_notify($1, $2)', values: [this.#channel, `${this.#id}:${key}`] })
  }

  /** Later, together and on another connection: a notification within an append would have all appends wait for each other. */
  announceSoon(key: number): void {
    this.#announced.add(key)
    this.#announcing ??= setTimeout(() => {
      this.#announcing = null
      void this.#announceAll().catch(() => undefined)
    }, ANNOUNCE_MS)
  }

  /** Leaves at once, and lets the others have what was held here. */
  async leave(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    for (const timer of [this.#lapse, this.#announcing]) if (timer !== null) clearTimeout(timer)
    await Promise.allSettled([this.#reading, this.#polling, this.#beating, this.#announceAll()])
    const id = this.#id
    const leaving = this.#needs.connections.transaction(async (client) => {
      await client.query({ text: 'UPDATE lease SET member = NULL WHERE member = $1', values: [id] })
      await client.query({ text: 'DELETE FROM member WHERE id = $1', values: [id] })
    })
    // Without a server the others take it for gone soon.
    await Promise.allSettled([leaving, this.#client?.end()])
  }

  #every(milliseconds: number, work: () => Promise<void>): void {
    this.#timers.push(setInterval(() => void work().catch(() => undefined), milliseconds))
  }

  async #beat(): Promise<void> {
    this.#beating ??= this.#beatOnce().finally(() => (this.#beating = null))
    return this.#beating
  }

  async #beatOnce(): Promise<void> {
    const startedAt = performance.now()
    const { connections, onBeat } = this.#needs
    try {
      const id = this.#id
      // One that hangs is given up like a beat that hangs.
      if (id === null) this.#live(startedAt)
      if (id === null) this.#id = await connections.transaction((client) => register(client, 'again', this.#serves))
      else if (
        (
          await connections.rows({
            text: `UPDATE member SET beat_at = clock_timestamp() WHERE id = $1 AND ${IS_ALIVE} RETURNING id`,
            values: [id],
            query_timeout: BEAT_MS_MAX,
          })
        ).length === 0
      )
        this.#lapsed()
      if (this.#id !== null) this.#live(startedAt)
      onBeat(null)
    } catch (error) {
      onBeat(error)
    }
  }

  #live(since: number): void {
    if (this.#lapse !== null) clearTimeout(this.#lapse)
    const leftMs = (LIFETIME_SECONDS - MARGIN_SECONDS) * 1000 - (performance.now() - since)
    if (leftMs <= 0) return this.#lapsed()
    this.#lapse = setTimeout(() => this.#unheard(), leftMs)
  }

  /** It comes back as another member, so that what it held is free. */
  #lapsed(): void {
    this.#id = null
    this.#needs.onLapse()
  }

  /** Nothing was heard of the database for so long that the connections are taken for gone: what waits on them is not to wait longer. */
  #unheard(): void {
    this.#lapsed()
    this.#needs.connections.cut()
    this.#needs.onBeat(new Error('Connection terminated: no beat went through'))
  }

  async #listen(): Promise<LoneClient> {
    const client = await this.#needs.connections.single()
    client.on('notification', ({ payload = '' }) => this.#hear(payload))
    client.on('end', () => this.#reconnect(client))
    await client.query({ text: `LISTEN ${this.#channel}` })
    return client
  }

  #reconnect(lost: LoneClient): void {
    if (this.#client === lost) this.#client = null
    if (this.#isClosed || this.#client !== null) return
    setTimeout(() => {
      if (this.#isClosed || this.#client !== null) return
      this.#listen().then(
        (client) => this.#take(client),
        () => this.#reconnect(lost),
      )
    }, RECONNECT_MS).unref()
  }

  #take(client: LoneClient): void {
    if (this.#isClosed) return void client.end()
    this.#client = client
    // What was announced meanwhile was heard by nobody here.
    void this.#read().catch(() => undefined)
  }

  #hear(payload: string): void {
    const [from = '', keys = ''] = payload.split(':', 2)
    if (from === String(this.#id)) return
    for (const key of keys.split(',')) this.#heard.add(Number(key))
    if (this.#heard.delete(FLEET_KEY)) this.#needs.onFleet()
    if (this.#heard.delete(TOKENS_KEY)) void this.#read().catch(() => undefined)
    if (this.#heard.size === 0) return
    this.#reading ??= this.#readHeard().finally(() => (this.#reading = null))
    this.#reading.catch(() => undefined)
  }

  async #readHeard(): Promise<void> {
    while (this.#heard.size > 0 && !this.#isClosed) {
      const keys = [...this.#heard]
      this.#heard.clear()
      this.#see(
        await this.#needs.connections.rows<ScenarioColumns>({
          name: 'announced',
          text: ANNOUNCED,
          values: [keys],
          query_timeout: READ_MS_MAX,
        }),
      )
    }
  }

  /** One at a time: on a link that hangs they would take every connection. */
  async #poll(): Promise<void> {
    this.#polling ??= this.#read().finally(() => (this.#polling = null))
    return this.#polling
  }

  /** Everything that changed since the last one, whether it was announced or not. */
  async #read(): Promise<void> {
    const rows = await this.#needs.connections.rows<ScenarioColumns>({
      name: 'changed',
      text: CHANGED,
      values: [this.#cursor],
      query_timeout: READ_MS_MAX,
    })
    this.#cursor = rows[0]?.cursor ?? this.#cursor
    this.#see(rows)
  }

  #see(rows: readonly ScenarioColumns[]): void {
    if (this.#isClosed) return
    this.#needs.feed.seeTokens(rows[0]?.token_changes ?? 0)
    for (const row of rows) {
      const state = stateOf(row)
      if (state !== null) this.#needs.feed.see(state)
    }
  }

  async #announceAll(): Promise<void> {
    const keys = [...this.#announced]
    this.#announced.clear()
    for (let at = 0; at < keys.length; at += ANNOUNCED_KEYS_MAX) {
      const payload = `${this.#id}:${keys.slice(at, at + ANNOUNCED_KEYS_MAX).join(',')}`
      // Where it is lost, the others' poll finds the records.
      await this.#needs.connections.rows({ text: 'SELECT pg_notify($1, $2)', values: [this.#channel, payload] })
    }
  }
}

/** One at a time, so that of two that open the store at once the first one forgets what was chosen, and not the second. */
async function register(client: PgClient, time: JoinTime, serves: string | null): Promise<number> {
  await client.query({ text: 'SELECT pg_advisory_xact_lock($1, hashtext(current_schema()))', values: [OPENING_LOCK] })
  await client.query({ text: `DELETE FROM member WHERE beat_at < clock_timestamp() - interval '${FORGOTTEN_AFTER}'` })
  await client.query({ text: 'DELETE FROM followed f WHERE NOT EXISTS (SELECT 1 FROM member m WHERE m.id = f.member)' })
  await client.query({
    text: `WITH old AS (DELETE FROM allowance WHERE used_at < clock_timestamp() - interval '${UNUSED_AFTER}' RETURNING key)
           DELETE FROM share s USING old WHERE s.key = old.key`,
  })
  const { rows: others } = await client.query({ text: `SELECT 1 FROM member WHERE ${IS_ALIVE} LIMIT 1` })
  if (time === 'first' && others.length === 0)
    await client.query({
      text: `UPDATE scenario SET training_mode = NULL, settings_changes = settings_changes + 1, changed = pg_current_xact_id()
             WHERE training_mode IS NOT NULL`,
    })
  const { rows } = await client.query<{ id: number }>({
    text: 'INSERT INTO member (serves) VALUES ($1) RETURNING id',
    values: [serves],
  })
  return rows[0]?.id ?? 0
}

/** Null for a read that found nothing. */
function stateOf(row: ScenarioColumns): ScenarioState | null {
  const { key, name, archived_name, step, inference, report, train, settings_changes: settings } = row
  if (key === null) return null
  if (name === null) return { key, name: (archived_name ?? '').toString(), isArchived: true }
  return { key, name: name.toString(), step, newest: { inference, report, train }, settings }
}
