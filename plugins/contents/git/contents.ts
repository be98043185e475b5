/** Contents and releases in a bare git repository: content is a tree, a release is a commit, a scenario's pointer is a ref. */
import { unsupported, PRODUCT, invalid } from '../../../src/contract/index.ts'
import type { ContentStore, Release, SealMark } from '../../../src/contract/index.ts'
import { LargeFiles } from './files/large.ts'
import { UnpackedContents } from './files/unpacked.ts'
import { Workbench } from './files/workbench.ts'
import { isObjectId, makeObject, type NewObject } from './objects/object.ts'
import { Objects } from './objects/objects.ts'
import { Trees, noContent } from './objects/trees.ts'
import { noRelease } from './refs/goals.ts'
import { LocalRefs } from './refs/local-refs.ts'
import { heldRef, scenarioRef } from './refs/ref-names.ts'
import { Refs } from './refs/refs.ts'
import { openRemote } from './refs/remote.ts'
import { openRepository } from './repository.ts'

export interface Location {
  readonly path: string
  /** The repository that follows it, or null. */
  readonly url: string | null
}

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
  const unpacked = new UnpackedContents({ repository: path, workbench, large, texts: (contentId) => trees.texts(contentId) })
  const refs = new Refs(local, find)
  const remote = url === null ? null : await openRemote(path, url, local, find)

  /** Not checked before it is queued, but for what would be no name: two points of one scenario must reach the queue in the order asked. */
  async function move(ref: string, releaseId: string): Promise<void> {
    if (!isObjectId(releaseId)) throw noRelease(releaseId)
    await refs.move({ ref, releaseId })
    await remote?.follow(ref)
  }

  return {
    isShared: remote !== null,
    write: (content) => trees.write(content),
    read: (contentId) => trees.read(contentId),
    async unpack(contentId) {
      if (!isObjectId(contentId)) throw noContent(contentId)
      return unpacked.folder(contentId)
    },
    async seal(contentId, parent, mark) {
      await trees.require(contentId)
      if (parent !== null && (await find(parent.release_id)) === null) throw noRelease(parent.release_id)
      const commit = encodeRelease(contentId, parent, mark)
      await objects.add(commit)
      return { release_id: commit.id, parent_release_id: parent?.release_id ?? null, content_id: contentId }
    },
    find,
    point: async (scenario, { release_id }) => move(scenarioRef(scenario), release_id),
    hold: async ({ release_id }) => move(heldRef(release_id), release_id),
    archive: async (scenario, as) => (remote === null ? refs.archive(scenario, as) : Promise.reject(noArchive())),
    async close() {
      await refs.idle()
      await remote?.idle()
    },
  }
}

/** A remote may hold what other services publish under the same name, and renaming there is no move that one service may make. */
const noArchive = (): Error =>
  unsupported('remote_repository', 'a scenario whose releases are in a remote repository cannot be archived; keep it, or use a path')

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
