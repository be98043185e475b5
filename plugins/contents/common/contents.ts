/** Contents and releases as git objects in a folder: content is a tree, a release is a commit. Where their pointers are is not known here. */
import { invalid, PRODUCT } from '../../../src/contract/index.ts'
import type { ContentStore, Release, SealMark } from '../../../src/contract/index.ts'
import { LargeFiles, type LargeFilesBehind } from './files/large.ts'
import { UnpackedContents } from './files/unpacked.ts'
import type { Workbench } from './files/workbench.ts'
import { isObjectId, makeObject, type NewObject } from './objects/object.ts'
import { Objects, type ObjectsBehind } from './objects/objects.ts'
import { noContent, Trees } from './objects/trees.ts'
import { noRelease } from './refs/goals.ts'
import type { FolderUsage } from './usage.ts'

/** What holds what the folder does not. */
export interface Behind {
  readonly objects: ObjectsBehind
  readonly large?: LargeFilesBehind
  /** Absent: nothing is ever removed from the folder. */
  readonly usage?: FolderUsage
}

export type KeptContents = Pick<ContentStore, 'write' | 'read' | 'unpack' | 'seal' | 'find'>

export function keepContents(folder: string, workbench: Workbench, behind: Behind): KeptContents {
  const objects = new Objects(folder, workbench, behind.objects, behind.usage)
  const large = new LargeFiles(folder, workbench, behind.large, behind.usage)
  const trees = new Trees(objects, large)
  const texts = (contentId: string): ReturnType<Trees['texts']> => trees.texts(contentId)
  const unpacked = new UnpackedContents({ repository: folder, workbench, large, texts, usage: behind.usage })
  const find = (releaseId: string): Promise<Release | null> => findRelease(objects, releaseId)
  return {
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
