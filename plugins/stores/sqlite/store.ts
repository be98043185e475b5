/** The store as the service sees it: a thin side in each thread that uses it, which asks the writer and the reader. */
import { hash, randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { isRefusal, rowOf } from '../../../src/contract/index.ts'
import type {
  Appended,
  Damage,
  DeploymentStore,
  Expired,
  ExpiryPage,
  Fence,
  ForgetOrder,
  Forgotten,
  NewRecord,
  ScenarioStore,
  SearchedPlace,
  Store,
  StoreChange,
  StoreLease,
  StoreUsage,
} from '../../../src/contract/index.ts'
import { IN_THE_CLEAR, type SealSettings } from '../common/seal.ts'
import { takeWriter } from './ahead.ts'
import { Carriers } from './messages/carriers.ts'
import { Channel } from './messages/channel.ts'
import type { Errand } from './errand.ts'
import { indexLeft } from './forgetting/forget.ts'
import { forgetWhileOpen } from './forgetting/forget-open.ts'
import { ARCHIVE_FOLDER, LOCK_WAIT_MS } from './open.ts'
import { readerChannel, Reads, type Reader } from './reading/reads.ts'
import { runErrand } from './run-errand.ts'
import { removeIndex } from './search/file.ts'
import { StoreSearch } from './search/search.ts'
import { JoinedThreads, receivePorts } from './messages/sharing.ts'
import { onEnd, untilReady, type ThreadLine } from './thread.ts'
import { packGroup, payloadBytes } from './messages/wire.ts'
import type { AppendAnswer, StoreSettings, WriterAnswers, WriterCall } from './messages/wire.ts'
import { WriterWatch } from './watch.ts'

const WAITING_BYTES_MAX = 256 * 1024 * 1024
/** Less, since there may be one for each core. */
const JOINED_WAITING_BYTES_MAX = 64 * 1024 * 1024
const WRITER_GROUPS_IN_FLIGHT = 2
const ABANDON_AGAIN_MS = 250
const PASSING: ReadonlySet<string> = new Set(['store_busy', 'disk_full', 'store_overloaded'])

export interface StoreOptions extends Pick<StoreSettings, 'directory' | 'capacityBytes'>, Partial<SealSettings> {
  readonly lockWaitMs?: number
  /** More payload bytes than this on their way to the disk are refused. */
  readonly waitingBytesMax?: number
  /** False: no index is kept, and nothing can be searched. */
  readonly isSearched?: boolean
}

export async function openStore(options: StoreOptions): Promise<Store> {
  const { directory, capacityBytes, lockWaitMs = LOCK_WAIT_MS, waitingBytesMax = WAITING_BYTES_MAX, isSearched = true } = options
  const { secretKey, encrypts } = { ...IN_THE_CLEAR, ...options }
  const settings: StoreSettings = { directory, capacityBytes, lockWaitMs, secretKey, encrypts }
  const writer = await untilReady(takeWriter(settings))
  // Made before bodies were encrypted, it holds their words.
  if (encrypts) removeIndex(directory)
  const reader = new Reads(settings)
  const threads = new JoinedThreads(settings, writer, reader)
  return new SqliteStore({ settings, writer, reader, waitingBytesMax, threads, ...(isSearched && { search: new StoreSearch(settings) }) })
}

/** The store behind a port of `share`, in another thread. It is told of every change from here on. */
export async function joinStore(port: MessagePort): Promise<Store> {
  const { settings, writer, reader } = receivePorts(port)
  await untilReady(writer)
  return new SqliteStore({ settings, writer, reader: readerChannel(reader), waitingBytesMax: JOINED_WAITING_BYTES_MAX, opener: port })
}

type Writer = Channel<WriterCall, WriterAnswers>
type LossListener = Parameters<Store['onLoss']>[0]
type Follower = (change: StoreChange) => void

interface Listeners {
  readonly losses: LossListener[]
  readonly followers: Set<Follower>
}

function writerChannel(line: ThreadLine, waitingBytesMax: number, writing: WriterWatch, { losses, followers }: Listeners): Writer {
  const carriers = new Carriers()
  return new Channel<WriterCall, WriterAnswers>(line, {
    groupsInFlight: WRITER_GROUPS_IN_FLIGHT,
    waitingBytesMax,
    pack(calls) {
      const message = packGroup(calls, carriers)
      return { message, answered: () => carriers.giveBack(message.bytes) }
    },
    onNotice(notice) {
      if ('trouble' in notice) return writing.found(notice.trouble)
      if ('changes' in notice) for (const change of notice.changes) for (const follower of followers) follower(change)
      else for (const [scenario, lost] of notice.lost) for (const listener of losses) listener(scenario, lost)
    },
  })
}

interface StoreParts {
  readonly settings: StoreSettings
  readonly writer: ThreadLine
  readonly reader: Reader
  readonly waitingBytesMax: number
  /** In the thread that opened it. */
  readonly threads?: JoinedThreads
  readonly search?: StoreSearch
  /** In a thread that joined it: by this port it is told to close. */
  readonly opener?: MessagePort
}

class SqliteStore implements Store {
  readonly writing: WriterWatch
  readonly deployment: DeploymentStore
  readonly share?: () => MessagePort
  readonly forget?: (order: ForgetOrder) => Promise<Forgotten>
  readonly #settings: StoreSettings
  readonly #writer: Writer
  readonly #reader: Reader
  readonly #threads: JoinedThreads | undefined
  readonly #search: StoreSearch | undefined
  readonly #opener: MessagePort | undefined
  readonly #listeners: Listeners = { losses: [], followers: new Set() }
  readonly #leases = new AbortController()
  readonly #archiving = new Set<Promise<string>>()
  readonly #closing = new AbortController()
  #forgetting: Promise<void> = Promise.resolve()
  #closed: Promise<void> | null = null

  constructor({ settings, writer, reader, waitingBytesMax, threads, search, opener }: StoreParts) {
    this.writing = new WriterWatch(writer)
    this.#settings = settings
    this.#writer = writerChannel(writer, waitingBytesMax, this.writing, this.#listeners)
    this.#reader = reader
    this.deployment = deploymentOf(this.#writer, reader)
    this.#threads = threads
    this.#search = search
    this.#opener = opener
    if (search !== undefined) this.#keepSearched(search)
    if (threads !== undefined) {
      this.share = () => threads.share()
      this.forget = (order) => this.#forget(order)
    }
    opener?.on('message', () => void this.close())
    // The writer knows the holders, so nobody here holds a lease without it.
    onEnd(writer, () => this.#leases.abort())
  }

  scenarios(): Promise<readonly string[]> {
    return this.#reader.ask({ op: 'scenarios' })
  }

  scenario(name: string): ScenarioStore {
    const [writer, reader] = [this.#writer, this.#reader]
    return {
      append: async (records) => appended(records, await writer.ask({ op: 'append', scenario: name, records }, payloadBytes(records))),
      types: (ids) => reader.ask({ op: 'types', scenario: name, ids }),
      get: (id) => reader.ask({ op: 'get', scenario: name, id }),
      records: (page) => reader.ask({ op: 'records', scenario: name, ...page }),
      pending: (page) => reader.ask({ op: 'pending', scenario: name, ...page }),
      commit: async (commit, fence) => void (await writer.ask({ op: 'commit', scenario: name, commit, ...fenceFields(fence) })),
      commits: (page) => reader.ask({ op: 'commits', scenario: name, ...page }),
      head: () => reader.ask({ op: 'head', scenario: name }),
      chain: (page) => reader.ask({ op: 'chain', scenario: name, ...page }),
      release: (id) => reader.ask({ op: 'release', scenario: name, id }),
      keepTotals: async (totals) => void (await writer.ask({ op: 'totals', scenario: name, totals })),
      losses: () => reader.ask({ op: 'losses', scenario: name }),
      hadEarlier: () => reader.ask({ op: 'had_earlier', scenario: name }),
      expire: (page) => this.#expire(name, page),
      settings: () => reader.ask({ op: 'settings', scenario: name }),
      configure: async (changes) => void (await writer.ask({ op: 'configure', scenario: name, changes })),
      ...(this.#search !== undefined && { search: this.#search.in(name) }),
    }
  }

  archive(name: string): Promise<string> {
    const archiving = this.#forgetting.then(() => this.#archive(name)).finally(() => this.#archiving.delete(archiving))
    this.#archiving.add(archiving)
    return archiving
  }

  async usage(): Promise<StoreUsage> {
    const usage = await this.#reader.ask({ op: 'usage' })
    return { ...usage, capacity_bytes: this.#settings.capacityBytes }
  }

  onLoss(listener: LossListener): void {
    this.#listeners.losses.push(listener)
  }

  follow(listener: Follower): () => void {
    const { followers } = this.#listeners
    const follower: Follower = (change) => listener(change)
    followers.add(follower)
    return () => void followers.delete(follower)
  }

  async lease(name: string): Promise<StoreLease | null> {
    const token = await this.#writer.ask({ op: 'lease', name })
    if (token === null) return null
    const signal = AbortSignal.any([this.#leases.signal])
    const release = async (): Promise<void> => {
      if (!signal.aborted) await this.#writer.ask({ op: 'release', name, token })
    }
    return { name, token, signal, release }
  }

  verify(progress: (checked: number, total: number) => void): Promise<readonly Damage[]> {
    const { directory, secretKey, encrypts } = this.#settings
    const errand: Errand = { errand: 'verify', directory, secretKey, encrypts }
    return runErrand(errand, this.#closing.signal, progress)
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  #keepSearched(search: StoreSearch): void {
    this.onLoss(() => search.wake())
    this.follow(({ kind }) => {
      if (kind === 'appended' || kind === 'archived') search.wake()
    })
  }

  /** What is old enough is looked for by the reader, so that the writer only removes. */
  async #expire(scenario: string, page: ExpiryPage): Promise<Expired> {
    const { sequences, next } = await this.#reader.ask({ op: 'expired', scenario, ...page })
    if (sequences.length === 0) return { records: 0, bytes: 0, next }
    const { records, bytes, below } = await this.#writer.ask({ op: 'expire', scenario, sequences })
    this.#search?.wake()
    return { records, bytes, next: below ?? next }
  }

  /** One at a time, and no scenario is archived meanwhile: a copy that is being made would have what is removed. */
  #forget(order: ForgetOrder): Promise<Forgotten> {
    const forgetting = this.#forgetting.then(async () => {
      await Promise.allSettled(this.#archiving)
      return forgetWhileOpen(order, {
        settings: this.#settings,
        writer: this.#writer,
        remakeIndex: () => this.#remakeIndex(),
        signal: this.#closing.signal,
      })
    })
    this.#forgetting = forgetting.then(ignore, ignore)
    return forgetting
  }

  async #remakeIndex(): Promise<readonly SearchedPlace[]> {
    const { directory } = this.#settings
    const remove = (): readonly SearchedPlace[] => {
      removeIndex(directory)
      return indexLeft(directory)
    }
    return this.#search === undefined ? remove() : this.#search.without(remove)
  }

  async #archive(name: string): Promise<string> {
    const archive = archivePath(name)
    const key = await this.#writer.ask({ op: 'archive_begin', scenario: name, archive })
    const giveUp = async (error: unknown): Promise<never> => {
      await this.#abandon(key, archive)
      throw error
    }
    await runErrand({ errand: 'export', directory: this.#settings.directory, key, archive }).catch(giveUp)
    // After a failed sync it is unknown what the disk has: the next start looks, and both copies stay until then.
    const finishing = this.#writer.ask({ op: 'archive_finish', key })
    await finishing.catch((error: unknown) => (isPassing(error) ? giveUp(error) : Promise.reject(error)))
    return archive
  }

  /** The scenario takes new rows again: as soon as one can be written, or else at the next start. */
  async #abandon(key: number, archive: string): Promise<void> {
    const { signal } = this.#closing
    try {
      await rm(join(this.#settings.directory, archive), { force: true }).catch(ignore)
      await this.#writer.ask({ op: 'archive_abandon', key })
    } catch (error) {
      if (signal.aborted || !isPassing(error)) return
      // The caller need not wait until it can be undone.
      void sleep(ABANDON_AGAIN_MS, undefined, { signal }).then(() => this.#abandon(key, archive), ignore)
    }
  }

  /** A check is given up, an archive is finished; the writer closes last and so writes the log back. */
  async #close(): Promise<void> {
    this.#closing.abort()
    this.#leases.abort()
    this.writing.end()
    await Promise.allSettled(this.#archiving)
    await this.#threads?.close()
    await this.#search?.close()
    await this.#reader.close()
    await this.#writer.close()
    this.#opener?.close()
  }
}

function deploymentOf(writer: Writer, reader: Reader): DeploymentStore {
  return {
    tokens: () => reader.ask({ op: 'tokens' }),
    changeToken: async (change, entry) => void (await writer.ask({ op: 'token', change, entry })),
    addAudit: async (entry) => void (await writer.ask({ op: 'note', entry })),
    audit: (page) => reader.ask({ op: 'audit', ...page }),
  }
}

const ignore = (): void => undefined
const isPassing = (error: unknown): boolean => isRefusal(error) && PASSING.has(error.code)

/** A lease is a fence too, and holds what cannot cross to the writer. */
const fenceFields = (fence?: Fence): { readonly fence?: Fence } =>
  fence === undefined ? {} : { fence: { name: fence.name, token: fence.token } }

/** New rows are put together here from what was sent; only rows stored before come back whole. */
function appended(records: readonly NewRecord[], [step, answer]: AppendAnswer): Appended {
  const rows = records.map((record, index) => {
    const stored = typeof answer === 'number' ? answer + index : answer[index]
    return typeof stored === 'object' ? stored : rowOf(record, stored ?? 0)
  })
  return { rows, step }
}

/** A name may hold anything, so the file is named for its hash; the time is for people, and random bytes keep two of one second apart. */
function archivePath(name: string): string {
  const stamp = new Date().toISOString().replace(/\.\d+|[-:]/g, '')
  return `${ARCHIVE_FOLDER}/${hash('sha256', name)}-${stamp}-${randomBytes(4).toString('hex')}.sqlite3`
}
