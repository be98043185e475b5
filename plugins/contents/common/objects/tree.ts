/** Folders to git trees and back, without a disk: equal files, equal id. */
import { pathProblem, unavailable, unsupported } from '../../../../src/contract/index.ts'
import { makeObject } from './object.ts'
import type { NewObject } from './object.ts'

const MODE = { file: '100644', program: '100755', folder: '40000' } as const
const ID_BYTES = 20
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Something that is kept already and gets a place in a tree: a blob, or a whole tree as a folder. */
export interface Leaf {
  readonly id: string
  readonly kind: 'file' | 'folder'
}

type Folder = Map<string, Folder | Leaf>

/** The paths must be fit to be kept, and none of them a folder of another. */
export function encodeTree(leaves: Iterable<readonly [path: string, leaf: Leaf]>) {
  /** What a tree names is in an earlier stage, or a leaf. */
  const stages: NewObject[][] = []
  const { object } = encodeFolder(foldersFrom(leaves), stages)
  return { root: object, stages }
}

function foldersFrom(leaves: Iterable<readonly [path: string, leaf: Leaf]>): Folder {
  const root: Folder = new Map()
  for (const [path, leaf] of leaves) {
    const segments = path.split('/')
    const name = segments.pop() ?? ''
    segments.reduce(enter, root).set(name, leaf)
  }
  return root
}

function enter(folder: Folder, name: string): Folder {
  const known = folder.get(name)
  if (known instanceof Map) return known
  const made: Folder = new Map()
  folder.set(name, made)
  return made
}

interface Encoded {
  readonly object: NewObject
  /** One above the highest folder in it. It is the stage the tree is written in. */
  readonly height: number
}

function encodeFolder(folder: Folder, stages: NewObject[][]): Encoded {
  let height = 0
  const entries = Array.from(folder, ([name, child]) => {
    if (!(child instanceof Map)) return makeEntry(name, MODE[child.kind], child.id)
    const inner = encodeFolder(child, stages)
    height = Math.max(height, inner.height + 1)
    return makeEntry(name, MODE.folder, inner.object.id)
  })
  entries.sort((a, b) => Buffer.compare(a.order, b.order))
  const object = makeObject('tree', Buffer.concat(entries.map((entry) => entry.bytes)))
  while (stages.length <= height) stages.push([])
  stages[height]?.push(object)
  return { object, height }
}

/** Git sorts by bytes, a folder as if its name ended in a slash. */
function makeEntry(name: string, mode: string, id: string): { readonly order: Buffer; readonly bytes: Buffer } {
  const order = Buffer.from(mode === MODE.folder ? `${name}/` : name)
  return { order, bytes: Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]) }
}

export function decodeTree(body: Buffer) {
  const entries: { readonly name: string; readonly id: string; readonly folder: boolean }[] = []
  const names = new Set<string>()
  let at = 0
  while (at < body.length) {
    const end = body.indexOf(0, at)
    if (end < 0 || end + ID_BYTES >= body.length) throw unavailable('content_damaged', 'a folder of the content is cut short; run git fsck')
    const line = decodeText(body.subarray(at, end))
    const space = line.indexOf(' ')
    const mode = line.slice(0, space)
    at = end + 1 + ID_BYTES
    const name = checkedName(line.slice(space + 1))
    if (names.has(name)) throw unsupported('content_entry', 'the content holds two entries of one name; only one of them could be served')
    names.add(name)
    entries.push({ name, id: body.toString('hex', end + 1, at), folder: isFolder(mode) })
  }
  return entries
}

/** A foreign tree may hold names that climb out of the folder it is unpacked into. */
function checkedName(name: string): string {
  if (!name.includes('/') && pathProblem(name) === null) return name
  throw unsupported('content_entry', 'the content holds an entry whose name is not a plain one; only trees of plain names can be served')
}

/** Only foreign trees hold anything but files and folders. */
function isFolder(mode: string): boolean {
  if (mode === MODE.folder) return true
  if (mode === MODE.file || mode === MODE.program) return false
  throw unsupported('content_entry', `the content holds an entry of mode ${mode}; only files and folders can be served`)
}

export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw unsupported('content_not_text', 'the content holds a file that is not UTF-8 text; only text can be served')
  }
}
