/** The store as the service sees it: writes in their order, reads beside them, and this process as one of those that share it. */
import { randomBytes, randomInt } from 'node:crypto'
import type { MessagePort } from 'node:worker_threads'
import { storeClosed } from '../../../src/contract/index.ts'
import type {
  AuditEntry,
  Commit,
  Damage,
  DeploymentStore,
  Fence,
  FleetBoard,
  ForgetOrder,
  Forgotten,
  JsonObject,
  OpenDocuments,
  ScenarioSettings,
  ScenarioStore,
  ShareStore,
  Store,
  StoreChange,
  StoreLease,
  StoreRemark,
  StoreUsage,
  TokenChange,
} from '../../../src/contract/index.ts'
import { makeAppend } from './append.ts'
import { StoreSeal } from '../common/seal.ts'
import { archive, commitOnce, configure, isArchived, keepTotals } from './commit.ts'
import { Database } from './connections.ts'
import { addAudit, changeToken, endTokensOf, readAudit, readTokens } from './deployment.ts'
import { openDocuments } from './documents.ts'
import { expire } from './expire.ts'
import { ChangeFeed } from './feed.ts'
import { Followed } from './followed.ts'
import { openFleet } from './fleet.ts'
import { forgetTag } from './forget.ts'
import { MemberLeases } from './leases.ts'
import type { PgClient } from './library.ts'
import { FLEET_KEY, Membership, TOKENS_KEY, type JoinTime } from './membership.ts'
import { migrate } from './migrate.ts'
import { readPending } from './pending.ts'
import { RecordQueries } from './queries.ts'
import { lacksRight, readOnlyServer, refusalOf } from './refusals.ts'
import { remarksOn } from './remarks.ts'
import { settleKeys } from './sealed.ts'
import { removeIndex, SEARCH_CONNECTIONS, PostgresSearch } from './search/search.ts'
import type { PostgresSettings } from './settings.ts'
import { makeShares } from './shares.ts'
import { portTo, receiveSettings } from './sharing.ts'
import { Tidy } from './tidy.ts'
import { Trying } from './trying.ts'
import { verifyStore } from './verify.ts'
import { Writes } from './writes.ts'

/** After the disk was full, writes are expected to go through again once this much of it is free. */
const ROOM_BYTES_LEAST = 1024 * 1024
/** Two that prove it at once do not wait for each other. */
const MAX_PROBES = 2 ** 40

type LossListener = Parameters<Store['onLoss']>[0]

/** Another thread of a process that has the store open: that one searches. */
export const joinStore = (port: MessagePort): Promise<Store> => openStore({ ...receiveSettings(port), isSearched: false }, 'again')

export async function openStore(settings: PostgresSettings, time: JoinTime = 'first'): Promise<PostgresStore> {
  const connections = await Database.open(settings)
  const store = new PostgresStore(connections, settings)
  try {
    await migrate(connections, settings.schema)
    await settleKeys(connections, new StoreSeal(settings))
    await store.join(time)
    // Made before bodies were encrypted, it holds their words.
    if (settings.encrypts && time === 'first') await removeIndex(connections)
    if (settings.isSearched) store.keepSearched()
    return store
  } catch (error) {
    await store.close().catch(() => undefined)
    throw refusalOf(error)
  }
}

class PostgresStore implements Store {
  readonly writing: Trying
  readonly deployment: DeploymentStore
  readonly documents: OpenDocuments
  readonly shares: ShareStore
  readonly fleet: FleetBoard
  readonly members: Followed
  readonly #connections: Database
  readonly #settings: PostgresSettings
  readonly #seal: StoreSeal
  readonly #feed = new ChangeFeed()
  readonly #queries: RecordQueries
  readonly #leases: MemberLeases
  readonly #membership: Membership
  readonly #tidy: Tidy
  readonly #writes: Writes
  readonly #losses: LossListener[] = []
  readonly #fleetListeners: (() => void)[] = []
  readonly #reading = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  #search: PostgresSearch | null = null
  #closed: Promise<void> | null = null

  constructor(connections: Database, settings: PostgresSettings) {
    const { schema, capacityBytes, connections: count } = settings
    this.#connections = connections
    this.#settings = settings
    this.writing = new Trying((mustWrite) => probe(connections, mustWrite))
    this.#seal = new StoreSeal(settings)
    this.#queries = new RecordQueries(connections, this.#seal)
    this.deployment = {
      tokens: () => this.#read(() => readTokens(connections)),
      changeToken: (change, entry) => this.#write(() => this.#changeToken(change, entry)),
      addAudit: (entry) => this.#write(() => this.#addAudit(entry)),
      audit: (page) => this.#read(() => readAudit(connections, page)),
    }
    const documentCalls: Parameters<typeof openDocuments>[0] = {
      read: (work) => this.#read(() => work(connections)),
      change: (work) => this.#write(() => this.writing.run((isAgain) => connections.rawTransaction((client) => work(client, isAgain)))),
    }
    this.documents = (owner, fence) => openDocuments(documentCalls, owner, fence)
    this.#leases = new MemberLeases(connections)
    this.#membership = new Membership({
      connections,
      feed: this.#feed,
      schema,
      onFleet: () => this.#fleetListeners.forEach((listener) => listener()),
      onLapse: () => this.#leases.loseAll(),
      onBeat: (error) => this.#beaten(error),
    })
    this.members = new Followed(connections, this.#membership, (name) => this.#feed.keyOf(name))
    this.fleet = openFleet({
      connections,
      change: (work) => this.#write(() => this.writing.run(() => connections.rawTransaction(work))),
      announce: (client) => this.#membership.announce(client, FLEET_KEY),
      onChange: (listener) => void this.#fleetListeners.push(listener),
    })
    const shares = makeShares(connections, () => this.#membership.id)
    this.shares = {
      take: (asks) => this.#write(() => shares.take(asks)),
      used: (windows) => this.#read(() => shares.used(windows)),
    }
    this.#tidy = new Tidy(connections, this.#seal, capacityBytes, (scenario, lost) => {
      for (const listener of this.#losses) listener(scenario, lost)
    })
    const append = makeAppend({
      connections,
      feed: this.#feed,
      trying: this.writing,
      seal: this.#seal,
      onAppended: (key, bytes) => {
        this.#tidy.added(bytes)
        this.#membership.announceSoon(key)
      },
    })
    // The other half of the connections is for reads.
    this.#writes = new Writes(Math.max(1, Math.floor(count / 2)), {
      pipe: () => append.pipe(),
      write: async (calls, ...onLine) => {
        await this.#tidy.room()
        await append.write(calls, ...onLine)
      },
    })
  }

  join(time: JoinTime): Promise<void> {
    return this.#membership.join(time)
  }

  /** Once the tables are there. */
  keepSearched(): void {
    const search = new PostgresSearch(this.#settings)
    this.#search = search
    this.follow(({ kind }) => {
      if (kind === 'appended' || kind === 'archived') search.wake()
    })
  }

  scenarios(): Promise<readonly string[]> {
    return this.#read(() => this.#queries.scenarios())
  }

  scenario(name: string): ScenarioStore {
    const queries = this.#queries
    const search = this.#search?.in(name, this.#connections, this.#seal)
    return {
      append: (records) => this.#write(() => this.#writes.append(name, records)),
      types: (ids) => this.#read(() => queries.types(name, ids)),
      get: (id) => this.#read(() => queries.get(name, id)),
      records: (page) => this.#read(() => queries.records(name, page)),
      pending: (page) => this.#read(() => readPending(this.#connections, this.#seal, name, page)),
      commit: (commit, fence) => this.#write(() => this.#writes.alone(name, () => this.#commit(name, commit, fence))),
      commits: (page) => this.#read(() => queries.commits(name, page)),
      head: () => this.#read(() => queries.head(name)),
      chain: (page) => this.#read(() => queries.chain(name, page)),
      release: (id) => this.#read(() => queries.release(name, id)),
      keepTotals: (totals) => this.#write(() => this.#writes.alone(name, () => this.#keepTotals(name, totals))),
      losses: () => this.#read(() => queries.losses(name)),
      hadEarlier: () => this.#read(() => queries.hadEarlier(name)),
      expire: (page) => this.#transacted((client) => expire(client, this.#seal, name, page)),
      settings: () => this.#read(() => queries.settings(name)),
      configure: (changes) => this.#write(() => this.#writes.alone(name, () => this.#configure(name, changes))),
      ...(search !== undefined && {
        search: {
          find: (query) => this.#read(() => search.find(query)),
          excerpts: (sequences) => this.#read(() => search.excerpts(sequences)),
        },
      }),
    }
  }

  archive(name: string): Promise<string> {
    return this.#write(() => this.#writes.alone(name, () => this.#archive(name)))
  }

  async usage(): Promise<StoreUsage> {
    return { ...(await this.#read(() => this.#queries.usage())), capacity_bytes: this.#settings.capacityBytes }
  }

  onLoss(listener: LossListener): void {
    this.#losses.push(listener)
  }

  follow(listener: (change: StoreChange) => void): () => void {
    return this.#feed.follow(listener)
  }

  lease(name: string): Promise<StoreLease | null> {
    return this.#write(() => this.#leases.take(name, () => this.#membership.id))
  }

  share(): MessagePort {
    if (this.#closed !== null) throw storeClosed()
    return portTo(this.#settings)
  }

  /** One connection more listens. */
  remarks(): Promise<readonly StoreRemark[]> {
    const { connections, isSearched } = this.#settings
    return this.#read(() => remarksOn(this.#connections, connections + 1 + (isSearched ? SEARCH_CONNECTIONS : 0)))
  }

  forget(order: ForgetOrder): Promise<Forgotten> {
    return this.#write(() => forgetTag(this.#connections, this.#seal, order))
  }

  verify(progress: (checked: number, total: number) => void): Promise<readonly Damage[]> {
    return this.#read(() => verifyStore(this.#connections, this.#seal, this.#closing.signal, progress))
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #commit(name: string, commit: Commit, fence: Fence | undefined): Promise<void> {
    const key = await this.#transact((client, isAgain) => commitOnce(client, name, commit, fence, isAgain))
    this.#feed.see({ key, name, step: commit.step })
  }

  async #configure(name: string, changes: Partial<ScenarioSettings>): Promise<void> {
    let settings = 0
    const key = await this.#transact(async (client) => {
      const configured = await configure(client, name, changes)
      settings = configured.settings
      return configured.key
    })
    this.#feed.see({ key, name, settings })
  }

  async #archive(name: string): Promise<string> {
    let known: number | undefined
    let tokenChanges = 0
    const key = await this.#transact(async (client, isAgain) => {
      if (isAgain && known !== undefined && (await isArchived(client, known))) return known
      known = await archive(client, name)
      tokenChanges = await endTokensOf(client, name)
      if (tokenChanges > 0) await this.#membership.announce(client, TOKENS_KEY)
      return known
    })
    this.#feed.seeTokens(tokenChanges)
    this.#feed.see({ key, name, isArchived: true })
    return `scenario/${key}`
  }

  async #keepTotals(name: string, totals: ReadonlyMap<number, JsonObject>): Promise<void> {
    await this.writing.run(() => this.#connections.rawTransaction((client) => keepTotals(client, name, totals)))
  }

  async #changeToken(change: TokenChange, entry: AuditEntry): Promise<void> {
    const changes = await this.writing.run((isAgain) =>
      this.#connections.rawTransaction(async (client) => {
        const changed = await changeToken(client, change, entry, isAgain)
        await this.#membership.announce(client, TOKENS_KEY)
        return changed
      }),
    )
    this.#feed.seeTokens(changes)
  }

  async #addAudit(entry: AuditEntry): Promise<void> {
    await this.writing.run(() => this.#connections.rawTransaction((client) => addAudit(client, entry)))
  }

  /** A change of the scenario whose key the work answers; the others hear of it with the transaction. */
  #transact(work: (client: PgClient, isAgain: boolean) => Promise<number>): Promise<number> {
    return this.writing.run((isAgain) =>
      this.#connections.rawTransaction(async (client) => {
        const key = await work(client, isAgain)
        await this.#membership.announce(client, key)
        return key
      }),
    )
  }

  #transacted<T>(work: (client: PgClient) => Promise<T>): Promise<T> {
    return this.#write(() => this.writing.run(() => this.#connections.rawTransaction(work)))
  }

  #beaten(error: unknown): void {
    if (error !== null) return void this.writing.failed(error)
    this.writing.reached()
    void this.#leases.releaseAgain()
  }

  async #read<T>(read: () => Promise<T>): Promise<T> {
    if (this.#closed !== null) throw storeClosed()
    const reading = read()
    this.#reading.add(reading)
    return reading.finally(() => this.#reading.delete(reading))
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    if (this.#closed !== null) throw storeClosed()
    return write()
  }

  /** What was accepted is finished; a check is given up. */
  async #close(): Promise<void> {
    this.#closing.abort(storeClosed())
    this.#leases.loseAll()
    await this.#writes.idle()
    this.writing.end()
    await Promise.allSettled([this.#tidy.idle(), this.members.idle(), ...this.#reading])
    await this.#search?.close()
    await this.#membership.leave()
    this.#feed.stop()
    await this.#connections.close()
  }
}

/** What every append writes. */
const WRITTEN = [
  ['record', 'INSERT'],
  ['body', 'INSERT'],
  ['scenario', 'UPDATE'],
] as const

/** Whether what a call writes may be written; `mustWrite`: and that there is room, by a real write, which is undone. */
async function probe(connections: Database, mustWrite: boolean): Promise<void> {
  const [row] = await connections.rows<{ isReadOnly: boolean; mayWrite: boolean }>({
    text: `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "isReadOnly",
                  ${WRITTEN.map(([table, right]) => `has_table_privilege('${table}', '${right}')`).join(' AND ')} AS "mayWrite"`,
  })
  if (row?.isReadOnly === true) throw readOnlyServer()
  if (row?.mayWrite === false) throw lacksRight()
  if (!mustWrite) return
  await connections.use(async (client) => {
    await client.query({ text: 'BEGIN' })
    try {
      await client.query({
        text: `INSERT INTO body (age, scenario, sequence, checksum, payload) VALUES ($1, 0, 0, '', $2)`,
        values: [-randomInt(MAX_PROBES), randomBytes(ROOM_BYTES_LEAST)],
      })
    } finally {
      await client.query({ text: 'ROLLBACK' })
    }
  })
}
