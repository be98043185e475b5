/** Files to git trees and back, without a disk: equal files, equal id. */
import { unavailable, unsupported } from '../../../src/contract/index.ts'
import type { Files } from '../../../src/contract/index.ts'
import { makeObject } from './object.ts'
import type { NewObject } from './object.ts'
import { checkFiles } from './paths.ts'

const MODE = { file: '100644', program: '100755', folder: '40000' } as const
const ID_BYTES = 20
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export interface EncodedTree {
  readonly root: NewObject
  /** Everything to write, in stages: what an object names is in an earlier stage. */
  readonly stages: readonly (readonly NewObject[])[]
}

type Folder = Map<string, Folder | string>

export function encodeTree(files: Files): EncodedTree {
  checkFiles(files)
  const stages: NewObject[][] = []
  const root = encodeFolder(foldersFrom(files), stages)
  return { root: root.object, stages }
}

function foldersFrom(files: Files): Folder {
  const root: Folder = new Map()
  for (const [path, text] of Object.entries(files)) {
    const segments = path.split('/')
    const name = segments.pop() ?? ''
    segments.reduce(enter, root).set(name, text)
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
  /** One above the highest of what it holds; files are 0. It is the stage the object is written in. */
  readonly height: number
}

function encodeFolder(folder: Folder, stages: NewObject[][]): Encoded {
  let height = 0
  const entries = Array.from(folder, ([name, child]) => {
    const { object, ...part } = child instanceof Map ? encodeFolder(child, stages) : encodeText(child, stages)
    height = Math.max(height, part.height + 1)
    return makeEntry(name, child instanceof Map ? MODE.folder : MODE.file, object.id)
  })
  entries.sort((a, b) => Buffer.compare(a.order, b.order))
  const object = makeObject('tree', Buffer.concat(entries.map((entry) => entry.bytes)))
  return put(stages, { object, height })
}

const encodeText = (text: string, stages: NewObject[][]): Encoded =>
  put(stages, { object: makeObject('blob', Buffer.from(text)), height: 0 })

function put(stages: NewObject[][], encoded: Encoded): Encoded {
  while (stages.length <= encoded.height) stages.push([])
  stages[encoded.height]?.push(encoded.object)
  return encoded
}

/** Git sorts by bytes, a folder as if its name ended in a slash. */
function makeEntry(name: string, mode: string, id: string): { readonly order: Buffer; readonly bytes: Buffer } {
  const order = Buffer.from(mode === MODE.folder ? `${name}/` : name)
  return { order, bytes: Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]) }
}

export interface TreeEntry {
  readonly name: string
  readonly id: string
  readonly folder: boolean
}

export function decodeTree(body: Buffer): readonly TreeEntry[] {
  const entries: TreeEntry[] = []
  let at = 0
  while (at < body.length) {
    const end = body.indexOf(0, at)
    if (end < 0 || end + ID_BYTES >= body.length) throw unavailable('content_damaged', 'a folder of the content is cut short; run git fsck')
    const line = decodeText(body.subarray(at, end))
    const space = line.indexOf(' ')
    const mode = line.slice(0, space)
    at = end + 1 + ID_BYTES
    entries.push({ name: line.slice(space + 1), id: body.toString('hex', end + 1, at), folder: isFolder(mode) })
  }
  return entries
}

/** Only trees that somebody else wrote hold anything but files and folders. */
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
