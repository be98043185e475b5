/** Contents and releases in a bare git repository: content is a tree, a release is a commit, a scenario's pointer is a ref. */
import { unknown, unsupported } from '../../../src/contract/index.ts'
import type { Content, ContentStore, Files, Release, SealMark } from '../../../src/contract/index.ts'
import { isObjectId } from './object.ts'
import { Objects } from './objects.ts'
import { Refs, noRelease } from './refs.ts'
import { decodeRelease, encodeRelease } from './release.ts'
import { openRepository } from './repository.ts'
import { decodeText, decodeTree, encodeTree } from './tree.ts'

export async function openContents(repository: string): Promise<ContentStore> {
  await openRepository(repository)
  const objects = new Objects(repository)
  const refs = new Refs(repository)
  await Promise.all([objects.sweep(), refs.sweep()])
  return new GitContents(objects, refs)
}

interface Place {
  readonly path: string
  readonly id: string
}

class GitContents implements ContentStore {
  readonly #objects: Objects
  readonly #refs: Refs

  constructor(objects: Objects, refs: Refs) {
    this.#objects = objects
    this.#refs = refs
  }

  /**
   * Stage after stage, so that a tree never exists before all it names does: then one that exists
   * needs no look below it. It is still added, which waits for a writer about to finish and rewrites nothing.
   */
  async write(content: Content): Promise<string> {
    if (content.kind === 'checkpoint') throw unsupported('checkpoint_content', 'this content store keeps files; it takes no checkpoints')
    const { root, stages } = encodeTree(content.files)
    const missing = (await this.#objects.has(root.id)) ? [[root]] : stages
    for (const stage of missing) await Promise.all(stage.map((object) => this.#objects.add(object)))
    return root.id
  }

  async read(contentId: string): Promise<Files> {
    const texts = await this.#walk(contentId)
    const blobs = await this.#objects.read(texts.map(({ id }) => id))
    return Object.fromEntries(
      texts.map(({ path, id }) => {
        const blob = blobs.get(id)
        if (blob?.type !== 'blob') throw noContent(contentId)
        return [path, decodeText(blob.body)]
      }),
    )
  }

  async seal(contentId: string, parent: Release | null, mark: SealMark): Promise<Release> {
    await this.#requireTree(contentId)
    if (parent !== null && (await this.find(parent.release_id)) === null) throw noRelease(parent.release_id)
    const commit = encodeRelease(contentId, parent, mark)
    await this.#objects.add(commit)
    return { release_id: commit.id, parent_release_id: parent?.release_id ?? null, content_id: contentId }
  }

  async find(releaseId: string): Promise<Release | null> {
    if (!isObjectId(releaseId)) return null
    const commit = (await this.#objects.read([releaseId])).get(releaseId)
    return commit?.type === 'commit' ? decodeRelease(releaseId, commit.body) : null
  }

  /** Not checked here before it is queued: two points of one scenario must reach the queue in the order asked. */
  async point(scenario: string, release: Release): Promise<void> {
    if (!isObjectId(release.release_id)) throw noRelease(release.release_id)
    await this.#refs.point(scenario, release.release_id)
  }

  archive(scenario: string, as: string): Promise<string> {
    return this.#refs.archive(scenario, as)
  }

  close(): Promise<void> {
    return this.#refs.idle()
  }

  /** Every file of the tree, folders read level by level. */
  async #walk(contentId: string): Promise<readonly Place[]> {
    const texts: Place[] = []
    let level: readonly Place[] = [{ path: '', id: contentId }]
    while (level.length > 0) {
      const entries = await this.#entries(contentId, level)
      texts.push(...entries.filter((entry) => !entry.folder))
      level = entries.filter((entry) => entry.folder).map(({ path, id }) => ({ path: `${path}/`, id }))
    }
    return texts
  }

  async #entries(contentId: string, level: readonly Place[]): Promise<readonly (Place & { readonly folder: boolean })[]> {
    if (!isObjectId(contentId)) throw noContent(contentId)
    const trees = await this.#objects.read(level.map(({ id }) => id))
    return level.flatMap(({ path, id }) => {
      const tree = trees.get(id)
      if (tree?.type !== 'tree') throw noContent(contentId)
      return decodeTree(tree.body).map((entry) => ({ path: path + entry.name, id: entry.id, folder: entry.folder }))
    })
  }

  async #requireTree(contentId: string): Promise<void> {
    await this.#entries(contentId, [{ path: '', id: contentId }])
  }
}

const noContent = (contentId: string): Error => unknown('unknown_content', `content ${contentId} is not whole in this repository`)
