/** What all content stores agree on: which paths and texts they keep, and which files of a checkpoint are large. */
import { isUtf8 } from 'node:buffer'
import { extname } from 'node:path'
import { invalid } from './errors.ts'
import type { Files } from './nouns.ts'

/** What common systems take as the longest path, and what keeps a tree shallow enough to walk. */
const PATH_BYTES_MAX = 4096
/** The longest text that a checkpoint keeps as text. */
export const TEXT_FILE_BYTES_MAX = 1024 * 1024
const WEIGHTS: ReadonlySet<string> = new Set(['.safetensors', '.bin', '.pt', '.pth', '.ckpt', '.gguf', '.npz'])
const POINTER = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\noid sha256:([0-9a-f]{64})\nsize (\d{1,16})\n$/
/** A pointer is never longer, so nothing longer needs to be looked at. */
const POINTER_BYTES_MAX = 200

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

/**
 * Why a path cannot be kept, as the end of a sentence, or null. Kept are those that git keeps, and that mean the same file on every machine
 * the content is unpacked on.
 */
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

/**
 * Whether a file of a checkpoint is kept beside the texts, with a pointer in its place. Decided by name and bytes alone, so that equal
 * folders have equal ids: too long, weights by its name, no text by its bytes, or a whole pointer, which would be taken for one. A text that
 * only begins like a pointer is a text, and an empty file is never large, as git-lfs has it. Of a longer file the first
 * TEXT_FILE_BYTES_MAX + 1 bytes are enough.
 */
export function isLargeFile(name: string, bytes: Uint8Array): boolean {
  if (bytes.length === 0) return false
  if (bytes.length > TEXT_FILE_BYTES_MAX || WEIGHTS.has(extname(name).toLowerCase())) return true
  return !isUtf8(bytes) || readPointer(bytes) !== null
}

/** What stands for a large file: three lines that git-lfs reads too. */
export interface Pointer {
  readonly sha256: string
  readonly bytes: number
}

export function readPointer(text: Uint8Array): Pointer | null {
  if (text.length > POINTER_BYTES_MAX) return null
  const [, sha256, bytes] = POINTER.exec(Buffer.from(text).toString('latin1')) ?? []
  return sha256 === undefined ? null : { sha256, bytes: Number(bytes) }
}

export const printPointer = ({ sha256, bytes }: Pointer): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${bytes}\n`
