/**
 * A small durable store: everything is in memory, and every change is a line of an append-only file, synced before the call returns. Opening
 * replays the lines. The file only grows and changes are serial, so it is an example, not a store for much traffic.
 */
import { mkdir, open, readFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import memory from '../../plugins/stores/memory/index.ts'
import {
  define,
  invalid,
  unavailable,
  type AuditEntry,
  type Commit,
  type DeploymentStore,
  type JsonObject,
  type NewRecord,
  type ScenarioStore,
  type Store,
  type StoreChange,
  type TokenChange,
} from '../../src/contract/index.ts'

export default define('store', {
  async make(config) {
    const { directory } = config
    if (typeof directory !== 'string') throw invalid('store_config', 'directory must be the path of the folder that holds the journal')
    const inner = await memory.plugin.make(config)
    return JournalStore.open(inner, directory)
  },
})

/** A line of the file. Payloads are JSON text already. */
type Line =
  | { readonly scenario: string; readonly append: readonly (Omit<NewRecord, 'payload'> & { readonly payload: string })[] }
  | { readonly scenario: string; readonly commit: Commit }
  | { readonly scenario: string; readonly totals: readonly (readonly [step: number, totals: JsonObject])[] }
  | { readonly scenario: string; readonly archive: true }
  | { readonly lease: string }
  | { readonly token: TokenChange; readonly audit: AuditEntry }
  | { readonly audit: AuditEntry }

class JournalStore implements Store {
  readonly scenarios: Store['scenarios']
  readonly usage: Store['usage']
  readonly onLoss: Store['onLoss']
  readonly verify: Store['verify']
  readonly deployment: DeploymentStore
  readonly #inner: Store
  readonly #file: FileHandle
  readonly #followers = new Set<(change: StoreChange) => void>()
  /** Changes in memory that are not on the disk yet. */
  #untold: StoreChange[] = []
  /** The last change. A failed write fails all later ones, since the memory is then ahead of the disk. */
  #last: Promise<unknown> = Promise.resolve()

  private constructor(inner: Store, file: FileHandle) {
    this.#inner = inner
    this.#file = file
    this.scenarios = () => inner.scenarios()
    this.usage = () => inner.usage()
    this.onLoss = (listener) => inner.onLoss(listener)
    this.verify = (progress) => inner.verify(progress)
    this.deployment = {
      tokens: () => inner.deployment.tokens(),
      changeToken: (token, audit) => this.#keep(() => inner.deployment.changeToken(token, audit), { token, audit }),
      addAudit: (audit) => this.#keep(() => inner.deployment.addAudit(audit), { audit }),
      audit: (page) => inner.deployment.audit(page),
    }
    inner.follow((change) => void this.#untold.push(change))
  }

  static async open(inner: Store, directory: string): Promise<JournalStore> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const path = join(directory, 'journal.jsonl')
    const file = await open(path, 'a', 0o600)
    const text = await readFile(path, 'utf8')
    // A crash may leave half a line, which was never acknowledged, so it is cut off.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    await file.truncate(Buffer.byteLength(whole))
    for (const line of whole.split('\n')) if (line !== '') await apply(inner, JSON.parse(line))
    return new JournalStore(inner, file)
  }

  scenario(name: string): ScenarioStore {
    const inner = this.#inner.scenario(name)
    return {
      append: (records) => this.#keep(() => inner.append(records), { scenario: name, append: records.map(asText) }),
      commit: (commit, fence) => this.#keep(() => inner.commit(commit, fence), { scenario: name, commit }),
      // Settings are forgotten with the process, so they are no lines.
      configure: (changes) => this.#keep(() => inner.configure(changes), null),
      settings: () => inner.settings(),
      types: (ids) => inner.types(ids),
      get: (id) => inner.get(id),
      records: (page) => inner.records(page),
      pending: (page) => inner.pending(page),
      commits: (page) => inner.commits(page),
      head: () => inner.head(),
      chain: (page) => inner.chain(page),
      release: (id) => inner.release(id),
      keepTotals: (totals) => this.#keep(() => inner.keepTotals(totals), { scenario: name, totals: [...totals] }),
      losses: () => inner.losses(),
      hadEarlier: () => inner.hadEarlier(),
    }
  }

  archive(name: string): Promise<string> {
    return this.#keep(() => this.#inner.archive(name), { scenario: name, archive: true })
  }

  follow(listener: (change: StoreChange) => void): () => void {
    const follower = (change: StoreChange): void => listener(change)
    this.#followers.add(follower)
    return () => void this.#followers.delete(follower)
  }

  /** On disk, so that tokens rise over restarts too. */
  lease(name: string): ReturnType<Store['lease']> {
    return this.#keep(() => this.#inner.lease(name), { lease: name })
  }

  async close(): Promise<void> {
    await this.#last.catch(() => undefined)
    await this.#inner.close()
    await this.#file.close().catch(() => undefined)
  }

  /** One at a time. A change that the inner store refuses is not written; others are on disk before the call returns. */
  #keep<T>(change: () => Promise<T>, line: Line | null): Promise<T> {
    const answer = this.#last.then(change)
    const written = answer.then(
      () => this.#write(line),
      () => undefined,
    )
    this.#last = this.#last.then(() => written)
    this.#last.catch(() => undefined)
    return written.then(() => answer)
  }

  async #write(line: Line | null): Promise<void> {
    if (line !== null) await this.#sync(line)
    for (const change of this.#untold.splice(0)) for (const follower of this.#followers) follower(change)
  }

  async #sync(line: Line): Promise<void> {
    try {
      await this.#file.appendFile(`${JSON.stringify(line)}\n`)
      await this.#file.datasync()
    } catch (cause) {
      throw unavailable('storage_failed', 'the journal cannot be written; check its disk, then restart the service', { cause })
    }
  }
}

async function apply(inner: Store, line: Line): Promise<void> {
  if ('lease' in line) return (await inner.lease(line.lease))?.release()
  if ('token' in line) return inner.deployment.changeToken(line.token, line.audit)
  if ('audit' in line) return inner.deployment.addAudit(line.audit)
  if ('append' in line) await inner.scenario(line.scenario).append(line.append.map(asBytes))
  else if ('commit' in line) await inner.scenario(line.scenario).commit(line.commit)
  else if ('totals' in line) await inner.scenario(line.scenario).keepTotals(new Map(line.totals))
  else await inner.archive(line.scenario)
}

const asText = ({ pieces: _pieces, ...record }: NewRecord) => ({ ...record, payload: Buffer.from(record.payload).toString() })
const asBytes = (record: Omit<NewRecord, 'payload'> & { readonly payload: string }): NewRecord => ({
  ...record,
  payload: Buffer.from(record.payload),
})
