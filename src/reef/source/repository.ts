/** The artifact repository: its scenarios, and the manifest of each release. */
import { isUtf8 } from 'node:buffer'
import { ORIGINAL, isObject, type Json, type JsonObject } from '../../contract/index.ts'
import { parsed } from './folder.ts'
import { gitObjects, gitRefs, isCommitId } from './git.ts'
import { commitFrom, isStep, type SourceCommit } from './log.ts'

const STEP_RECORD = 'scenario_commit_record'
/** How far back to look for the release a scenario began with. */
const CHAIN_MAX = 100_000

export type SourceManifest = NonNullable<Awaited<ReturnType<SourceRepository['manifest']>>>

export class SourceRepository {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** The newest release of each scenario, by name. Refs with unreadable names are listed apart. */
  async scenarios(): Promise<{ readonly heads: ReadonlyMap<string, string>; readonly odd: readonly string[] }> {
    const heads = new Map<string, string>()
    const odd: string[] = []
    for (const [ref, commit] of await gitRefs(this.path, ORIGINAL.scenarioRefs)) {
      const name = decodeName(ref.slice(ORIGINAL.scenarioRefs.length))
      if (name === null) odd.push(ref)
      else heads.set(name, commit)
    }
    return { heads, odd }
  }

  async archived(): Promise<number> {
    return (await gitRefs(this.path, ORIGINAL.archivedRefs)).size
  }

  /** Null when the release is missing or has no manifest. */
  async manifest(releaseId: string) {
    if (!isCommitId(releaseId)) return null
    const [commit, file] = await gitObjects(this.path, [releaseId, `${releaseId}:${ORIGINAL.manifest}`])
    if (commit?.type !== 'commit' || file?.type !== 'blob') return null
    const value = parsed(file.body.toString())
    if (!isObject(value)) return null
    const metadata = isObject(value['metadata']) ? value['metadata'] : {}
    const { content_id: contentId, parent_release_id: parentId, source } = value
    return {
      release: { kind: 'artifact', releaseId, contentId: textOf(contentId) ?? '', parentId: textOf(parentId) },
      /** `fork` marks the first release of a scenario. */
      sourceKind: isObject(source) ? (textOf(source['kind']) ?? '') : '',
      metadata,
      /** In seconds. */
      committedAt: Number(/^committer .* (\d{1,12}) [+-]\d{4}$/m.exec(commit.body.toString())?.[1] ?? 0),
    }
  }

  /** The entries of the step that made the content: after a rollback, a promote or a fork that is the step of another release. */
  async entries(release: SourceManifest, component: string | null): Promise<Json | undefined> {
    const content = harnessContent(release, component)
    const seen = new Set<string>()
    for (let at: SourceManifest | null = release; at !== null && !seen.has(at.release.releaseId) && seen.size < CHAIN_MAX;) {
      seen.add(at.release.releaseId)
      const own = entriesOf(at)
      if (own !== undefined) return own
      at = await this.#withContent(content, component, [recordOf(at)['rollback_target_release_id'], at.release.parentId])
    }
    return undefined
  }

  async #withContent(content: string, component: string | null, ids: readonly (Json | undefined)[]): Promise<SourceManifest | null> {
    for (const id of ids) {
      const found: SourceManifest | null = typeof id === 'string' ? await this.manifest(id) : null
      if (found !== null && harnessContent(found, component) === content) return found
    }
    return null
  }

  /** Follows the parents back to the release that the scenario was forked from. */
  async beginning(from: string): Promise<SourceManifest | null> {
    const seen = new Set<string>()
    for (let at: string | null = from; at !== null && !seen.has(at) && seen.size < CHAIN_MAX;) {
      seen.add(at)
      const manifest: SourceManifest | null = await this.manifest(at)
      if (manifest === null || manifest.sourceKind === 'fork') return manifest
      at = manifest.release.parentId
    }
    return null
  }
}

/** The step that made a release, from its manifest: newer than the log when a crash came between the two. */
export function stepOf({ metadata, release, committedAt }: SourceManifest, scenario: string): SourceCommit | null {
  const record = metadata[STEP_RECORD]
  if (!isObject(record) || !isStep(record['scenario_step'])) return null
  return commitFrom({ recorded_at: committedAt, ...record }, scenario, record['scenario_step'], release)
}

/** The trainer's state of a rollback or a promote is that from before, so its entries are others. */
function entriesOf(manifest: SourceManifest): Json | undefined {
  const { operation = 'training', algorithm_state: state } = recordOf(manifest)
  return operation === 'training' && isObject(state) ? state['entries'] : undefined
}

function recordOf({ metadata }: SourceManifest): JsonObject {
  const record = metadata[STEP_RECORD]
  return isObject(record) ? record : {}
}

/** Releases with the same one have the same entries. */
export function harnessContent({ release, metadata }: SourceManifest, component: string | null): string {
  const parts = isObject(metadata['components']) ? metadata['components'] : {}
  const own = component === null ? undefined : parts[component]
  return (isObject(own) ? textOf(own['content_id']) : null) ?? release.contentId
}

/** The component folders; empty for a release without components. */
export function componentsIn({ metadata }: SourceManifest): readonly string[] {
  const names = isObject(metadata['components']) ? Object.keys(metadata['components']) : []
  return names.length > 1 ? names.toSorted() : []
}

function decodeName(text: string): string | null {
  const bytes = Buffer.from(text, 'base64url')
  if (text === '' || bytes.toString('base64url') !== text || !isUtf8(bytes)) return null
  return bytes.toString()
}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' && value !== '' ? value : null)
