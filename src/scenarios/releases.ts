/** The releases of a loaded scenario, looked up in the store by an index. Rows that have not landed yet are not seen, so that history and catalog agree. */
import { unavailable, type ChainPage, type Commit, type Release, type ScenarioStore } from '../contract/index.ts'
import { isReleased, isRestorable, type MakerRow, type ReleasedCommit, type ReleaseIndex } from '../releases/index.ts'
import { COMMITS_PER_READ, makerIn, type History } from './history.ts'

/** Clients hold the newest releases, so a few ids are asked for again and again. */
const KNOWN_IDS_MAX = 256
/** A longer id is looked up every time: it is a client's text, and none of ours is as long. */
const KNOWN_ID_CHARACTERS_MAX = 200

export class ScenarioReleases implements ReleaseIndex {
  readonly #history: History
  readonly #store: () => ScenarioStore
  /** Whether there is a release of that id, the latest asked for last. */
  readonly #known = new Map<string, boolean>()
  /** The newest step when these were looked up: a later row may have made one that there was not. */
  #knownAt = -1

  constructor(history: History, store: () => ScenarioStore) {
    this.#history = history
    this.#store = store
  }

  get head(): MakerRow {
    return this.#history.head
  }

  async find(releaseId: string): Promise<MakerRow | null> {
    const { head, component } = this.#history
    if (releaseId === head.row.release.release_id) return head
    return makerIn(await this.#landed(releaseId), component)
  }

  /** Answers at once for an id that was asked for lately. */
  has(releaseId: string): boolean | Promise<boolean> {
    if (releaseId === this.head.row.release.release_id) return true
    const { step } = this.#history
    if (this.#knownAt !== step) this.#forgetMissing(step)
    const known = this.#known.get(releaseId)
    return known ?? this.#look(releaseId, step)
  }

  async #look(releaseId: string, step: number): Promise<boolean> {
    const isThere = (await this.#landed(releaseId)) !== null
    if (releaseId.length > KNOWN_ID_CHARACTERS_MAX || (!isThere && this.#knownAt !== step)) return isThere
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < KNOWN_IDS_MAX) break
      this.#known.delete(oldest)
    }
    this.#known.set(releaseId, isThere)
    return isThere
  }

  #forgetMissing(step: number): void {
    for (const [id, isThere] of this.#known) if (!isThere) this.#known.delete(id)
    this.#knownAt = step
  }

  async review(releaseId: string): Promise<ReleasedCommit | null> {
    for (let after = -1; ;) {
      const page = await this.page({ after, limit: COMMITS_PER_READ, only: { target: releaseId } })
      const found = page.find(({ operation }) => operation === 'promote' || operation === 'reject')
      if (found !== undefined) return found
      const last = page.at(-1)
      if (last === undefined) return null
      after = last.step
    }
  }

  async comments(releaseId: string, most: number): Promise<readonly ReleasedCommit[]> {
    const found: ReleasedCommit[] = []
    for (let after = -1; ;) {
      const page = await this.page({ after, limit: COMMITS_PER_READ, only: { target: releaseId } })
      found.push(...page.filter(({ operation }) => operation === 'comment'))
      const last = page.at(-1)
      if (last === undefined || found.length >= most) return found.slice(0, most)
      after = last.step
    }
  }

  async page(page: ChainPage): Promise<readonly ReleasedCommit[]> {
    const { step: newest } = this.#history
    const landed = 'before' in page ? { ...page, before: Math.min(page.before, newest + 1) } : page
    return (await this.#store().chain(landed)).filter(isReleased).filter(({ step }) => step <= newest)
  }

  /** The row that was served when that step had landed. */
  async headAt(step: number): Promise<MakerRow> {
    const { head, component } = this.#history
    if (step >= head.row.step) return head
    const [row = null] = await this.page({ before: step + 1, limit: 1, only: 'published' })
    const found = makerIn(row, component)
    if (found === null) throw unavailable('store_damaged', `step ${step} comes before any release; run svc verify`)
    return found
  }

  /** The release itself, or for live weights the newest earlier release whose content is kept. */
  async lastKept(asked: Release): Promise<Release> {
    if (isRestorable(asked.release_id)) return asked
    const made = (await this.find(asked.release_id))?.row.step ?? 0
    for (let before = made; ;) {
      const page = await this.page({ before, limit: COMMITS_PER_READ, only: 'published' })
      const kept = page.find(({ release }) => isRestorable(release.release_id))
      if (kept !== undefined) return kept.release
      const last = page.at(-1)
      if (last === undefined) throw unavailable('store_damaged', 'no release of this scenario is kept; run svc verify')
      before = last.step
    }
  }

  async #landed(releaseId: string): Promise<Commit | null> {
    const row = await this.#store().release(releaseId)
    return row !== null && row.step <= this.#history.step ? row : null
  }
}
