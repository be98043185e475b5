/** Makes a scenario's rows from the original's steps. Each row names its source, so that a second run continues after it. */
import { isObject, type Commit, type Entry, type Files, type JsonObject, type Release, type StartVerdict } from '../../contract/index.ts'
import { findingOf } from '../../scenarios/index.ts'
import type { SourceCommit } from '../source/log.ts'
import { componentsIn, harnessContent, type SourceManifest, type SourceRepository } from '../source/repository.ts'
import { seedContents, takeContents, type Contents, type Wanted } from './contents.ts'
import { entriesThere } from './entries.ts'
import type { Remarks, ServedAfterImport } from './tally.ts'
import type { Target } from './target.ts'

/** The state key that names a row's source. */
export const IMPORTED = 'imported'
/** How many rows may be missing in a log before the rest is given up. */
const GAP_MAX = 10_000

interface Shape extends Pick<Wanted, 'adapter' | 'components' | 'harness' | 'seed'> {
  readonly recipe: string
  /** Undefined where the recipe reviews no import. */
  readonly judge: (content: Files) => StartVerdict | undefined
}

export interface Carrier {
  readonly target: Target
  readonly remarks: Remarks
  readonly repository: SourceRepository | null
  readonly shape: Shape
  /** The entries of the contents that scenarios began with, by content id. */
  readonly seeds: ReadonlyMap<string, readonly Entry[]>
  readonly keepRaw: boolean
  readonly newId: () => string
  /** Called with the number of bytes read. */
  readonly done: (bytes: number) => void
}

export interface HistoryParts extends Omit<Carrier, 'keepRaw' | 'done'> {
  readonly scenario: string
  readonly name: string
}

interface Head {
  readonly row: Commit
  readonly release: Release
  /** Null for one that an earlier run wrote. */
  readonly texts: Files | null
}

interface KnownEntries {
  readonly content: string
  readonly entries: readonly Entry[] | null
}

type Draft = Omit<Commit, 'step' | 'recorded_at' | 'state' | 'consumed_ids'> & { readonly state?: JsonObject }

const SKIPPED = { operation: 'train', release: null, pending: false, outcome: 'skipped' } as const

export class ImportedHistory {
  readonly #parts: HistoryParts
  readonly #rows: Commit[]
  readonly #known: number
  readonly #releases = new Map<string, Release>()
  readonly #consumed = new Map<string, Set<string>>()
  #next = 0
  #missing = 0
  #head: Head | null = null
  /** The texts of what this run wrote last. */
  #written: { readonly contentId: string; readonly texts: Files } | null = null
  /** The entries of the head, and of what the scenario began with: most releases without entries of their own have one of these. */
  #entries: KnownEntries | null = null
  #begun: KnownEntries | null = null

  private constructor(parts: HistoryParts, rows: readonly Commit[]) {
    this.#parts = parts
    this.#rows = [...rows]
    this.#known = rows.length
  }

  static async open(parts: HistoryParts): Promise<ImportedHistory> {
    return new ImportedHistory(parts, await parts.target.rows(parts.name))
  }

  get releases(): ReadonlyMap<string, string> {
    return new Map([...this.#releases].map(([there, { release_id }]): [string, string] => [there, release_id]))
  }

  get step(): number {
    return this.#next - 1
  }

  get rows(): readonly Commit[] {
    return this.#rows.slice(0, this.#next)
  }

  /** Null: the first release is unknown, and the scenario begins with the recipe's seed. */
  async begin(manifest: SourceManifest | null, entries: readonly Entry[] | null, at: number): Promise<void> {
    const { shape, newId } = this.#parts
    const there = manifest?.release ?? null
    if (manifest !== null) this.#entries = this.#begun = { content: harnessContent(manifest, shape.harness), entries }
    const was: JsonObject = { from: 'reef', release_id: there?.releaseId ?? null, content_id: there?.contentId ?? null }
    const known = this.#knownRow(was)
    if (known !== null) return this.#take(known, there?.releaseId ?? null)
    const found = manifest === null ? null : await this.#beginContents(manifest, entries)
    const contents = found ?? (await seedContents({ ...shape, entries: null, withoutEntries: () => undefined }, this.#parts.target))
    const release = await this.#seal(contents, null, { step: 0, operation: 'create', at: manifest === null ? 0 : at })
    const state = { recipe: shape.recipe, folder: newId() }
    const draft: Draft = {
      operation: 'create',
      release,
      pending: false,
      outcome: 'published',
      metrics: { [IMPORTED]: { ...was, ...(found === null && { seed: true }) } },
      state,
    }
    await this.#commit(draft, [], at)
    if (there !== null) this.#releases.set(there.releaseId, release)
  }

  async #beginContents(manifest: SourceManifest, entries: readonly Entry[] | null): Promise<Contents | null> {
    try {
      if (!this.#fits(manifest)) throw new Error('it does not consist of what the recipe trains')
      return await this.#contents(manifest.release.releaseId, entries)
    } catch (error) {
      this.#problem('release', `the release it began with is not imported: ${wordsOf(error)}; it begins with the seed of the recipe`)
      return null
    }
  }

  /** Adds one step. Missing steps before it are filled in, so that steps keep their numbers. */
  async add(commit: SourceCommit): Promise<boolean> {
    if (commit.step < this.#next) {
      this.#problem('step', `step ${commit.step} stands in the log a second time: it is left out`)
      return true
    }
    this.#missing += commit.step - this.#next
    if (this.#missing > GAP_MAX) {
      this.#problem('gap', `step ${commit.step} follows step ${this.step}: the rest of the log is left out`)
      return false
    }
    while (this.#next < commit.step) await this.#fill(commit.recordedAt)
    await this.#add(commit)
    return true
  }

  async #add(commit: SourceCommit): Promise<void> {
    const { release, recordedAt, component } = commit
    const was: JsonObject = { release_id: release.releaseId, content_id: release.contentId }
    const operation = commit.operation === 'training' ? 'train' : commit.operation
    const known = this.#knownRow(was, operation, recordedAt)
    if (known !== null) return this.#take(known, release.releaseId)
    const made = await this.#releaseOf(commit)
    const problem = made !== null && 'problem' in made ? made.problem : null
    if (problem !== null) this.#problem('release', problem)
    const published = made === null || 'problem' in made ? null : made
    const outcome = outcomeOf(commit, published)
    const target = commit.target === null ? undefined : (this.#releases.get(commit.target)?.release_id ?? commit.target)
    const draft: Draft = {
      operation,
      release: published,
      pending: outcome === 'pending',
      outcome,
      metrics: { ...commit.metrics, [IMPORTED]: { ...was, ...(problem !== null && { problem }) } },
      ...(target !== undefined && { rollback_target_release_id: target }),
      ...(component !== null && this.#parts.shape.components.includes(component) && { component }),
      ...(!commit.isVerified && { state: { operation_verified: false } }),
    }
    await this.#commit(draft, commit.consumed, recordedAt)
    if (published !== null) this.#releases.set(release.releaseId, published)
  }

  /** Records dropped without a step count as consumed: one more row per component says so. */
  async addReceipts(ids: readonly string[], receipts: number, component: string | null, at: number): Promise<void> {
    const was: JsonObject = { receipts }
    const known = this.#knownRow(was, 'train', at)
    if (known !== null) return this.#take(known, null)
    if (this.#next < this.#known) {
      const note = 'it went on here since it was imported: batches dropped at the original since then are not marked'
      return this.#parts.remarks.add('note', this.#parts.scenario, 'went on', note)
    }
    const done = this.#consumedBy(component ?? '')
    if (ids.every((id) => done.has(id))) return
    const metrics = { skipped: 'batches that the original dropped without a step', [IMPORTED]: was }
    await this.#commit({ ...SKIPPED, metrics, ...(component !== null && { component }) }, ids, at)
  }

  async finish(): Promise<void> {
    if (this.#head === null) return
    const promoted = new Set(this.#rows.map((row) => row.rollback_target_release_id))
    const held = this.#rows.flatMap(({ pending, release }) =>
      pending && release !== null && !promoted.has(release.release_id) ? [release] : [],
    )
    await this.#parts.target.point(this.#parts.name, this.#head.release, held)
  }

  /** The release that the service will serve, and what a review finds in it. */
  async served(): Promise<ServedAfterImport> {
    if (this.#head === null) throw new Error('a scenario begins with a release')
    const { row, release, texts } = this.#head
    const { target, shape } = this.#parts
    const was = isObject(row.metrics[IMPORTED]) ? row.metrics[IMPORTED] : {}
    const there = was['seed'] !== true && typeof was['release_id'] === 'string' ? was['release_id'] : null
    const verdict = there === null ? undefined : shape.judge(texts ?? (await target.read(release.content_id)))
    return { step: row.step, release_id: there, finding: verdict === undefined ? null : findingOf(verdict) }
  }

  /** The existing row of this step, or null. A different row means that the scenario here is another one. */
  #knownRow(was: JsonObject, operation: Commit['operation'] = 'create', at?: number): Commit | null {
    const row = this.#rows[this.#next]
    if (row === undefined) return null
    const imported = isObject(row.metrics[IMPORTED]) ? row.metrics[IMPORTED] : {}
    const isSame = Object.entries(was).every(([key, value]) => imported[key] === value)
    if (isSame && row.operation === operation && (at === undefined || row.recorded_at === at)) return row
    if ('receipts' in was) return null
    throw new OtherHistory(this.#next)
  }

  #take(row: Commit, there: string | null): void {
    const imported = row.metrics[IMPORTED]
    const problem = isObject(imported) ? imported['problem'] : undefined
    if (typeof problem === 'string') this.#problem('release', problem)
    if (row.release !== null && there !== null) this.#releases.set(there, row.release)
    this.#passed(row)
  }

  async #fill(at: number): Promise<void> {
    const was: JsonObject = { missing: true }
    const known = this.#knownRow(was, 'train')
    if (known !== null) return this.#take(known, null)
    this.#problem('step', `step ${this.#next} cannot be read from the log: an empty row stands in its place`)
    const metrics = { skipped: 'the row of this step could not be read when it was imported', [IMPORTED]: was }
    await this.#commit({ ...SKIPPED, metrics }, [], at)
  }

  async #releaseOf(commit: SourceCommit): Promise<Release | { readonly problem: string } | null> {
    const { release, step, recordedAt } = commit
    const { repository } = this.#parts
    if (repository === null || this.#releases.has(release.releaseId)) return null
    if (release.kind === 'live_weights' || release.releaseId.startsWith('live:')) {
      return { problem: `step ${step} published live weights, which lay in an engine alone: its row is kept without a release` }
    }
    if (!commit.isCheckpoint && !commit.isPending) return null
    const manifest = await repository.manifest(release.releaseId).catch(() => null)
    const lost = (why: string): { readonly problem: string } => ({
      problem: `release ${JSON.stringify(release.releaseId)} of step ${step} is not imported: ${why}; its row is kept`,
    })
    if (manifest === null) return lost('it is not in the repository')
    if (!this.#fits(manifest)) return lost('it does not consist of what the recipe trains')
    try {
      const content = harnessContent(manifest, this.#parts.shape.harness)
      const entries = await this.#entriesOf(commit, manifest, content)
      const contents = await this.#contents(release.releaseId, entries)
      const operation = commit.operation === 'training' ? 'train' : commit.operation
      const sealed = await this.#seal(contents, release.parentId, { step, operation, at: recordedAt })
      if (!commit.isPending) this.#entries = { content, entries }
      return sealed
    } catch (error) {
      return lost(wordsOf(error))
    }
  }

  /** A rollback and a promote keep the trainer's state from before: their entries are those of the content that they publish again. */
  async #entriesOf(commit: SourceCommit, manifest: SourceManifest, content: string): Promise<readonly Entry[] | null> {
    const own = commit.operation === 'training' ? entriesThere(commit.entries) : null
    const known = own ?? [this.#entries, this.#begun].find((each) => each?.content === content)?.entries
    return known ?? entriesThere(await this.#parts.repository?.entries(manifest, this.#parts.shape.harness))
  }

  #contents(releaseId: string, entries: readonly Entry[] | null): Promise<Contents> {
    const { shape, target, repository, remarks, scenario } = this.#parts
    const note = `release ${releaseId} does not name the entries of its harness: it is served as it is, and no step can change it`
    const withoutEntries = (): void => remarks.add('note', scenario, 'no entries', note)
    return takeContents({ ...shape, entries, repository: repository?.path ?? '', releaseId, withoutEntries }, target)
  }

  /**
   * A recipe with several components needs a folder for each; a recipe without components takes any release. The first release of a
   * scenario may not name its components: then its paths do.
   */
  #fits(manifest: SourceManifest): boolean {
    const found = componentsIn(manifest)
    const { components, adapter } = this.#parts.shape
    if (found.length === 0) return true
    return components.length === 0 ? adapter === undefined : found.join('/') === components.toSorted().join('/')
  }

  async #seal(contents: Contents, parentId: string | null, mark: Parameters<Target['seal']>[2]): Promise<Release> {
    const parent = this.#releases.get(parentId ?? '') ?? this.#head?.release ?? null
    const release = await this.#parts.target.seal(contents.content_id, parent, mark)
    this.#written = { contentId: contents.content_id, texts: contents.texts }
    return { ...release, ...(contents.components && { components: contents.components }) }
  }

  async #commit(draft: Draft, consumed: readonly string[], at: number): Promise<void> {
    const { state = {}, ...given } = draft
    const done = this.#consumedBy(draft.component ?? '')
    const consumed_ids = [...new Set(consumed)].filter((id) => !done.has(id))
    const row: Commit = { ...given, step: this.#next, recorded_at: at, consumed_ids, state }
    await this.#parts.target.commit(this.#parts.name, row)
    this.#rows.push(row)
    this.#passed(row)
  }

  #passed(row: Commit): void {
    const done = this.#consumedBy(row.component ?? '')
    for (const id of row.consumed_ids) done.add(id)
    const texts = this.#written !== null && this.#written.contentId === row.release?.content_id ? this.#written.texts : null
    if (row.release !== null && !row.pending) this.#head = { row, release: row.release, texts }
    this.#next += 1
  }

  #consumedBy(component: string): Set<string> {
    const done = this.#consumed.get(component) ?? new Set<string>()
    this.#consumed.set(component, done)
    return done
  }

  #problem(about: string, text: string): void {
    this.#parts.remarks.add('problem', this.#parts.scenario, about, text)
  }
}

/** The existing scenario of this name is not the result of an earlier import of the same source. */
export class OtherHistory extends Error {
  constructor(step: number) {
    super(
      `a scenario of this name is here already, and its step ${step} is another one: it is left alone; import under another name with --rename`,
    )
  }
}

function outcomeOf({ isPending, metrics }: SourceCommit, release: Release | null): Commit['outcome'] {
  if (release !== null) return isPending ? 'pending' : 'published'
  if (metrics['selected'] === false) return 'rejected'
  const notes = metrics['proposal_notes']
  const failure = metrics['error'] ?? (isObject(notes) ? notes['failure'] : undefined)
  return typeof failure === 'string' && failure.trim() !== '' ? 'failed' : 'skipped'
}

export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message.split('\n', 1).join('') : String(error))
