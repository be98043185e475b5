/** Contents and releases in a bare git repository: content is a tree, a release is a commit, a scenario's pointer is a ref. */
import { unsupported, PRODUCT, invalid } from '../../../src/contract/index.ts'
import type { Content, ContentStore, Files, Release, SealMark } from '../../../src/contract/index.ts'
import { LargeFiles } from './files/large.ts'
import { UnpackedContents } from './files/unpacked.ts'
import { Workbench } from './files/workbench.ts'
import type { Location } from './location.ts'
import { isObjectId, makeObject, type NewObject } from './objects/object.ts'
import { Objects } from './objects/objects.ts'
import { Trees, noContent } from './objects/trees.ts'
import { noRelease } from './refs/goals.ts'
import { LocalRefs } from './refs/local-refs.ts'
import { heldRef, scenarioRef } from './refs/ref-names.ts'
import { Refs } from './refs/refs.ts'
import { openRemote } from './refs/remote.ts'
import type { Remote } from './refs/remote.ts'
import { openRepository } from './repository.ts'

export async function openContents({ path, url }: Location): Promise<ContentStore> {
  await openRepository(path)
  const workbench = new Workbench(path)
  const local = new LocalRefs(path)
  await Promise.all([workbench.sweep(), local.sweep()])
  await local.open()
  const objects = new Objects(path, workbench)
  const find = (releaseId: string): Promise<Release | null> => findRelease(objects, releaseId)
  const large = new LargeFiles(path, workbench)
  const trees = new Trees(objects, large)
  return new GitContents({
    objects,
    trees,
    unpacked: new UnpackedContents({ repository: path, workbench, large, texts: (contentId) => trees.texts(contentId) }),
    refs: new Refs(local, find),
    remote: url === null ? null : await openRemote(path, url, local, find),
  })
}

interface Parts {
  readonly objects: Objects
  readonly trees: Trees
  readonly unpacked: UnpackedContents
  readonly refs: Refs
  readonly remote: Remote | null
}

class GitContents implements ContentStore {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  write(content: Content): Promise<string> {
    return this.#parts.trees.write(content)
  }

  read(contentId: string): Promise<Files> {
    return this.#parts.trees.read(contentId)
  }

  async unpack(contentId: string): Promise<string> {
    if (!isObjectId(contentId)) throw noContent(contentId)
    return this.#parts.unpacked.folder(contentId)
  }

  async seal(contentId: string, parent: Release | null, mark: SealMark): Promise<Release> {
    await this.#parts.trees.require(contentId)
    if (parent !== null && (await this.find(parent.release_id)) === null) throw noRelease(parent.release_id)
    const commit = encodeRelease(contentId, parent, mark)
    await this.#parts.objects.add(commit)
    return { release_id: commit.id, parent_release_id: parent?.release_id ?? null, content_id: contentId }
  }

  find(releaseId: string): Promise<Release | null> {
    return findRelease(this.#parts.objects, releaseId)
  }

  async point(scenario: string, release: Release): Promise<void> {
    await this.#move(scenarioRef(scenario), release.release_id)
  }

  async hold(release: Release): Promise<void> {
    await this.#move(heldRef(release.release_id), release.release_id)
  }

  /** A remote may hold what other services publish under the same name, and renaming there is no move that one service may make. */
  async archive(scenario: string, as: string): Promise<string> {
    if (this.#parts.remote === null) return this.#parts.refs.archive(scenario, as)
    throw unsupported(
      'remote_repository',
      'a scenario whose releases are in a remote repository cannot be archived; keep it, or use a path',
    )
  }

  async close(): Promise<void> {
    await this.#parts.refs.idle()
    await this.#parts.remote?.idle()
  }

  /** Not checked before it is queued, but for what would be no name: two points of one scenario must reach the queue in the order asked. */
  async #move(ref: string, releaseId: string): Promise<void> {
    if (!isObjectId(releaseId)) throw noRelease(releaseId)
    await this.#parts.refs.move({ ref, releaseId })
    await this.#parts.remote?.follow(ref)
  }
}

async function findRelease(objects: Objects, releaseId: string): Promise<Release | null> {
  if (!isObjectId(releaseId)) return null
  const commit = (await objects.read([releaseId])).get(releaseId)
  return commit?.type === 'commit' ? decodeRelease(releaseId, commit.body) : null
}

/**
 * A release as a git commit: which tree, on which parent, accepted at which step. Equal inputs, equal id. The step is in the message so
 * that two releases of equal content and parent never share an id.
 */
function encodeRelease(contentId: string, parent: Release | null, mark: SealMark): NewObject {
  const seconds = Math.floor(mark.at)
  if (!Number.isSafeInteger(seconds) || seconds < 0) throw invalid('bad_time', 'the time of a release is seconds since the epoch')
  const who = `${PRODUCT} <${PRODUCT}@localhost> ${seconds} +0000`
  const lines = [
    `tree ${contentId}`,
    ...(parent === null ? [] : [`parent ${parent.release_id}`]),
    `author ${who}`,
    `committer ${who}`,
    '',
    `step ${mark.step}: ${mark.operation}`,
    '',
  ]
  return makeObject('commit', Buffer.from(lines.join('\n')))
}

function decodeRelease(releaseId: string, body: Buffer): Release {
  const text = body.toString()
  const [header = ''] = text.split('\n\n', 1)
  const lines = header.split('\n')
  return { release_id: releaseId, parent_release_id: idAfter('parent ', lines), content_id: idAfter('tree ', lines) ?? '' }
}

function idAfter(word: string, lines: readonly string[]): string | null {
  const id = lines.find((line) => line.startsWith(word))?.slice(word.length)
  return id !== undefined && isObjectId(id) ? id : null
}
