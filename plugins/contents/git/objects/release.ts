/** A release as a git commit: which tree, on which parent, accepted at which step. Equal inputs, equal id. */
import { PRODUCT, invalid } from '../../../../src/contract/index.ts'
import type { Release, SealMark } from '../../../../src/contract/index.ts'
import { isObjectId, makeObject } from './object.ts'
import type { NewObject } from './object.ts'

/** The step is in the message so that two releases of equal content and parent never share an id. */
export function encodeRelease(contentId: string, parent: Release | null, mark: SealMark): NewObject {
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

export function decodeRelease(releaseId: string, body: Buffer): Release {
  const text = body.toString()
  const [header = ''] = text.split('\n\n', 1)
  const lines = header.split('\n')
  return { release_id: releaseId, parent_release_id: idAfter('parent ', lines), content_id: idAfter('tree ', lines) ?? '' }
}

function idAfter(word: string, lines: readonly string[]): string | null {
  const id = lines.find((line) => line.startsWith(word))?.slice(word.length)
  return id !== undefined && isObjectId(id) ? id : null
}
