/** The store over books in memory: capacity across all of them, archiving, and the handles the service holds. */
import { hash, randomBytes } from 'node:crypto'
import { noScenario, storeClosed } from '../../../src/contract/index.ts'
import type {
  Appended,
  Commit,
  CommitPage,
  Damage,
  DeploymentStore,
  Fence,
  Losses,
  NewRecord,
  RecordPage,
  RecordRow,
  ScenarioSettings,
  ScenarioStore,
  Store,
  StoreChange,
  StoreLease,
  StoreUsage,
} from '../../../src/contract/index.ts'
import { Book, storedRecord, type Kept } from './book.ts'
import { DeploymentBook } from './deployment.ts'
import { HeldLeases } from './leases.ts'
import { excerptsOf, findIn } from './search.ts'

type LossListener = Parameters<Store['onLoss']>[0]
type Follower = (change: StoreChange) => void

interface Body {
  readonly scenario: string
  readonly book: Book
  readonly kept: Kept
}

export class MemoryStore implements Store {
  readonly deployment: DeploymentStore
  readonly #capacityBytes: number
  readonly #books = new Map<string, Book>()
  readonly #archived = new Map<string, Book>()
  readonly #listeners: LossListener[] = []
  readonly #followers = new Set<Follower>()
  readonly #leases = new HeldLeases()
  readonly #deployment = new DeploymentBook()
  /** Every body in the order it came; those before the position are gone. */
  #bodies: Body[] = []
  #position = 0
  #closed = false

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes
    this.deployment = this.#deploymentOf(this.#deployment)
  }

  async scenarios(): Promise<readonly string[]> {
    this.#open()
    return [...this.#books.keys()].sort()
  }

  scenario(name: string): ScenarioStore {
    return handleOf(this, name)
  }

  async archive(name: string): Promise<string> {
    const book = this.bookToWrite(name)
    const archive = archivePrefix(name) + randomBytes(4).toString('hex')
    book.isArchived = true
    this.#books.delete(name)
    this.#archived.set(archive, book)
    const hadTokens = this.#deployment.endTokensOf(name)
    this.#tell({ kind: 'archived', scenario: name })
    if (hadTokens) this.#tell({ kind: 'tokens' })
    return archive
  }

  async usage(): Promise<StoreUsage> {
    this.#open()
    const books = [...this.#books.values()]
    const everyBook = [...books, ...this.#archived.values()]
    return {
      records: sum(books.map((book) => book.records.length)),
      body_bytes: this.#bodyBytes(),
      capacity_bytes: this.#capacityBytes,
      lost_records: sum(everyBook.map((book) => book.losses.records)),
      lost_bytes: sum(everyBook.map((book) => book.losses.bytes)),
      expired_records: sum(everyBook.map((book) => book.expired.records)),
      expired_bytes: sum(everyBook.map((book) => book.expired.bytes)),
    }
  }

  onLoss(listener: LossListener): void {
    this.#listeners.push(listener)
  }

  follow(listener: Follower): () => void {
    const follower: Follower = (change) => listener(change)
    this.#followers.add(follower)
    return () => void this.#followers.delete(follower)
  }

  async lease(name: string): Promise<StoreLease | null> {
    this.#open()
    return this.#leases.take(name)
  }

  async verify(progress: (checked: number, total: number) => void): Promise<readonly Damage[]> {
    const damages: Damage[] = []
    const { records } = await this.usage()
    for (const [scenario, book] of this.#books) {
      for (const [index, { row, payload, digest }] of book.records.entries()) {
        const report = (problem: string) => damages.push({ scenario, agent_record_id: row.agent_record_id, problem })
        if (row.sequence !== index + 1) report(`sequence ${index + 1} is missing before ${row.sequence}`)
        if (payload === null && digest === null) report('the body is missing and was not evicted')
      }
    }
    progress(records, records)
    return damages
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#followers.clear()
    this.#leases.loseAll()
  }

  book(name: string): Book | undefined {
    this.#open()
    return this.#books.get(name)
  }

  hadEarlier(name: string): boolean {
    const prefix = archivePrefix(name)
    return [...this.#archived.keys()].some((archive) => archive.startsWith(prefix))
  }

  bookToWrite(name: string): Book {
    const book = this.book(name)
    if (book === undefined) throw noScenario(name)
    return book
  }

  append(scenario: string, records: readonly NewRecord[]): Appended {
    const book = this.bookToWrite(scenario)
    const { kept, added } = book.append(records)
    for (const fresh of added) this.#bodies.push({ scenario, book, kept: fresh })
    this.#evict()
    const types = new Set(added.map(({ row }) => row.request_type))
    if (types.size > 0) this.#tell({ kind: 'appended', scenario, types: [...types] })
    return { rows: kept.map(({ row }) => row), step: book.chain.rows.length - 1 }
  }

  commit(scenario: string, commit: Commit, fence?: Fence): void {
    this.#open()
    if (fence !== undefined) this.#leases.check(fence)
    const created = commit.step === 0 && this.book(scenario) === undefined ? new Book() : null
    const book = created ?? this.bookToWrite(scenario)
    book.commit(scenario, commit)
    if (created !== null) this.#books.set(scenario, created)
    this.#tell(created === null ? { kind: 'landed', scenario, step: commit.step } : { kind: 'created', scenario })
  }

  configure(scenario: string, changes: Partial<ScenarioSettings>): void {
    const book = this.bookToWrite(scenario)
    book.settings = { ...book.settings, ...changes }
    this.#tell({ kind: 'settings', scenario })
  }

  #deploymentOf(book: DeploymentBook): DeploymentStore {
    const open = (): DeploymentBook => {
      this.#open()
      return book
    }
    return {
      tokens: async () => open().tokens(),
      changeToken: async (change, entry) => {
        open().changeToken(change, entry)
        this.#tell({ kind: 'tokens' })
      },
      addAudit: async (entry) => open().addAudit(entry),
      audit: async (page) => open().audit(page),
    }
  }

  #tell(change: StoreChange): void {
    for (const follower of this.#followers) follower(change)
  }

  #evict(): void {
    const lost = new Map<string, Losses>()
    for (let excess = this.#bodyBytes() - this.#capacityBytes; excess > 0;) {
      const oldest = this.#bodies[this.#position]
      if (oldest === undefined) break
      this.#position += 1
      if (oldest.book.isArchived) continue
      const bytes = oldest.book.evict(oldest.kept)
      excess -= bytes
      const before = lost.get(oldest.scenario) ?? { records: 0, bytes: 0 }
      lost.set(oldest.scenario, { records: before.records + 1, bytes: before.bytes + bytes })
    }
    this.#forgetEvicted()
    for (const [scenario, losses] of lost) for (const listener of this.#listeners) listener(scenario, losses)
  }

  /** Now and then, so that what is gone does not stay in the list. */
  #forgetEvicted(): void {
    if (this.#position * 2 <= this.#bodies.length) return
    this.#bodies = this.#bodies.slice(this.#position)
    this.#position = 0
  }

  #bodyBytes(): number {
    let bytes = 0
    for (const book of this.#books.values()) bytes += book.bodyBytes
    return bytes
  }

  #open(): void {
    if (this.#closed) throw storeClosed()
  }
}

const archivePrefix = (name: string): string => `archived/${hash('sha256', name)}-`

function handleOf(store: MemoryStore, name: string): ScenarioStore {
  const book = (): Book | undefined => store.book(name)
  return {
    append: async (records) => store.append(name, records),
    async types(ids) {
      const known = ids.flatMap((id) => book()?.byId.get(id)?.row ?? [])
      return new Map(known.map((row) => [row.agent_record_id, row.request_type]))
    },
    async get(id) {
      const kept = book()?.byId.get(id)
      return kept === undefined ? null : storedRecord(kept)
    },
    records: async (page) => rowsOf(book()?.records ?? [], page),
    pending: async (page) => book()?.pending(page) ?? [],
    commits: async (page) => commitsOf(book()?.chain.rows ?? [], page),
    head: async () => book()?.chain.head() ?? null,
    chain: async (page) => book()?.chain.page(page) ?? [],
    release: async (id) => book()?.chain.maker(id) ?? null,
    keepTotals: async (totals) => store.bookToWrite(name).chain.keepTotals(totals),
    commit: async (commit, fence) => store.commit(name, commit, fence),
    losses: async () => book()?.losses ?? { records: 0, bytes: 0 },
    hadEarlier: async () => store.hadEarlier(name),
    expire: async (page) => book()?.expire(page) ?? { records: 0, bytes: 0, next: null },
    settings: async () => book()?.settings ?? { training_mode: null },
    configure: async (changes) => store.configure(name, changes),
    search: {
      find: async (query) => findIn(book()?.records ?? [], query),
      excerpts: async (sequences) => excerptsOf(book()?.records ?? [], sequences),
    },
  }
}

function rowsOf(records: readonly Kept[], page: RecordPage): readonly RecordRow[] {
  const { limit, type, session } = page
  const [first, way] = 'after' in page ? [Math.max(page.after, 0), 1] : [Math.min(page.before - 1, records.length) - 1, -1]
  const rows: RecordRow[] = []
  for (let at = first; at >= 0 && at < records.length && rows.length < limit; at += way) {
    const row = records[at]?.row
    const isAsked = (type === undefined || row?.request_type === type) && (session === undefined || row?.summary?.session === session)
    if (row !== undefined && isAsked) rows.push(row)
  }
  return rows
}

function commitsOf(commits: readonly Commit[], page: CommitPage): readonly Commit[] {
  if ('before' in page) {
    const end = Math.min(Math.max(page.before, 0), commits.length)
    return commits.slice(Math.max(end - page.limit, 0), end).toReversed()
  }
  const { after, limit, ids } = page
  const from = Math.max(after + 1, 0)
  if (ids === undefined) return commits.slice(from, from + limit)
  const wanted = new Set(ids)
  return commits.filter((commit) => commit.step > after && commit.consumed_ids.some((id) => wanted.has(id))).slice(0, limit)
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
