/** Copies the releases that the rows of a scenario name. A release is its content, its parent and its mark, so its copy has the same id. */
import type { ContentStore, Release, ScenarioStore, SealMark, Store } from '../../contract/index.ts'

const ROWS_PER_PAGE = 100

export interface ReleaseSides {
  readonly from: ContentStore
  readonly to: ContentStore
  /** Of the source: a scenario may start from a release of another one. */
  readonly store: Store
  readonly signal: AbortSignal
}

export interface CopiedReleases {
  /** Both that were there and that were copied. */
  readonly releases: number
  readonly added: number
  /** Ids of those that could not be copied. */
  readonly missing: readonly string[]
}

export async function copyReleases(sides: ReleaseSides, name: string, copyName: string): Promise<CopiedReleases> {
  const scenario = sides.store.scenario(name)
  const missing: string[] = []
  let [releases, added] = [0, 0]
  for (let after = -1; ;) {
    sides.signal.throwIfAborted()
    const rows = await scenario.chain({ after, limit: ROWS_PER_PAGE })
    const last = rows.at(-1)
    if (last === undefined) break
    for (const { release, pending } of rows) {
      if (release === null || isLive(release)) continue
      releases += 1
      const outcome = await copyRelease(sides, release.release_id)
      if (outcome === 'missing') missing.push(release.release_id)
      if (outcome === 'copied') added += 1
      if (outcome !== 'missing' && pending) await sides.to.hold(release)
    }
    after = last.step
  }
  await pointAtHead(sides.to, scenario, copyName, missing)
  return { releases, added, missing }
}

/** Live weights are in an engine alone. */
const isLive = ({ release_id }: Release): boolean => release_id.startsWith('live:')

async function copyRelease(sides: ReleaseSides, releaseId: string): Promise<'there' | 'copied' | 'missing'> {
  const { from, to } = sides
  const wanted: Release[] = []
  for (let id: string | null = releaseId; id !== null && (await to.find(id)) === null;) {
    const release: Release | null = await from.find(id)
    if (release === null) return 'missing'
    wanted.push(release)
    id = release.parent_release_id
  }
  for (const release of wanted.toReversed()) if (!(await sealAgain(sides, release))) return 'missing'
  return wanted.length === 0 ? 'there' : 'copied'
}

async function sealAgain(sides: ReleaseSides, release: Release): Promise<boolean> {
  const { from, to } = sides
  const parent = release.parent_release_id === null ? null : await to.find(release.parent_release_id)
  if ((await copyContent(from, to, release.content_id)) !== release.content_id) return false
  for await (const mark of marks(sides, release)) {
    const sealed = await to.seal(release.content_id, parent, mark)
    if (sealed.release_id === release.release_id) return true
  }
  return false
}

/** Large files come as they are: a folder that holds them is another form of the same content. */
async function copyContent(from: ContentStore, to: ContentStore, contentId: string): Promise<string> {
  const files = await from.read(contentId)
  if (Object.keys(files).length === 0) return to.write({ kind: 'files', files })
  return to.write({ kind: 'checkpoint', path: await from.unpack(contentId) })
}

/** A seed is sealed without a time, so that all scenarios share it. */
const SEED: SealMark = { step: 0, operation: 'create', at: 0 }

/** What it may have been sealed with: by one of the rows that name it. */
async function* marks({ store }: ReleaseSides, { release_id, parent_release_id }: Release): AsyncIterable<SealMark> {
  if (parent_release_id === null) yield SEED
  for (const name of await store.scenarios()) {
    const row = await store.scenario(name).release(release_id)
    if (row !== null) yield { step: row.step, operation: row.operation, at: row.recorded_at }
  }
}

async function pointAtHead(to: ContentStore, scenario: ScenarioStore, copyName: string, missing: readonly string[]): Promise<void> {
  const release = (await scenario.head())?.published?.release ?? null
  if (release !== null && !isLive(release) && !missing.includes(release.release_id)) await to.point(copyName, release)
}
