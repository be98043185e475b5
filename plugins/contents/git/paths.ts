/** Which paths a content may hold: those that git keeps, and that mean the same file on every machine the content is unpacked on. */
import { invalid } from '../../../src/contract/index.ts'
import type { Files } from '../../../src/contract/index.ts'

/** What common systems take as the longest path, and what keeps a tree shallow enough to walk. */
const PATH_BYTES_MAX = 4096

/** Throws for the first path or text that cannot be kept. */
export function checkFiles(files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    const reason = pathProblem(path)
    if (reason !== null) throw invalid('bad_path', `path ${JSON.stringify(path)} ${reason}`)
    if (!text.isWellFormed())
      throw invalid('bad_text', `the text of ${JSON.stringify(path)} holds half a surrogate pair; send valid Unicode`)
    const folder = foldersOf(path).find((name) => Object.hasOwn(files, name))
    if (folder !== undefined) throw invalid('bad_path', `${JSON.stringify(folder)} is a file and a folder at once; rename one of them`)
  }
}

/** A component is one folder of a composed content. */
export function checkComponent(name: string): void {
  const reason = name.includes('/') ? 'holds a /; name one folder' : pathProblem(name)
  if (reason !== null) throw invalid('bad_path', `component ${JSON.stringify(name)} ${reason}`)
}

/** Why a path cannot be kept, as the end of a sentence, or null. */
export function pathProblem(path: string): string | null {
  if (!path.isWellFormed()) return 'holds half a surrogate pair; use valid Unicode'
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `is longer than ${PATH_BYTES_MAX} bytes; shorten it`
  if (path.includes('\0')) return 'holds a NUL character; remove it'
  if (path.includes('\\')) return 'holds a backslash; separate folders with /'
  if (path.startsWith('/')) return 'is absolute; make it relative to the root of the content'
  for (const segment of path.split('/')) {
    if (segment === '') return 'has an empty segment; write one / between two names'
    if (segment === '.' || segment === '..') return 'has a segment . or ..; name the folder itself'
    if (isGitFolder(segment)) return 'names a git folder; choose another name'
  }
  return null
}

/** `.git` in every spelling that some file system takes for it: any case, trailing dots, streams, invisible characters, the short name. */
function isGitFolder(segment: string): boolean {
  const visible = segment.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu, '').toLowerCase()
  return /^(?:\.git|git~1)[. ]*(?::.*)?$/su.test(visible)
}

function foldersOf(path: string): string[] {
  const segments = path.split('/')
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'))
}
