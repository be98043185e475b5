/** Contents as git trees: written stage after stage, read level by level, remembered for a while. */
import { checkComponent, checkFiles, invalid, unknown, unsupported } from '../../../../src/contract/index.ts'
import type { Content, Files } from '../../../../src/contract/index.ts'
import { takeCheckpoint } from '../files/checkpoint.ts'
import type { LargeFiles } from '../files/large.ts'
import { isObjectId, makeObject } from './object.ts'
import type { NewObject } from './object.ts'
import type { Objects } from './objects.ts'
import { RecentContents } from './recent.ts'
import { decodeText, decodeTree, encodeTree } from './tree.ts'
import type { Leaf } from './tree.ts'

const RECENT_BYTES_MAX = 32 * 1024 * 1024
/** Files of one content held in memory at once while it is walked through. */
const FILES_AT_ONCE = 32
/** A foreign tree that names itself again and again has more files than any disk. */
const FILES_MAX = 100_000
const FOLDERS_DEEP_MAX = 100
/** Texts of one content that are in memory together. */
const TEXT_BYTES_MAX = 256 * 1024 * 1024

interface Place {
  readonly path: string
  readonly id: string
}

export class Trees {
  readonly #objects: Objects
  readonly #large: LargeFiles
  readonly #recent = new RecentContents(RECENT_BYTES_MAX)

  constructor(objects: Objects, large: LargeFiles) {
    this.#objects = objects
    this.#large = large
  }

  async write(content: Content): Promise<string> {
    if (content.kind === 'files') return this.#writeFiles(content.files)
    const leaves =
      content.kind === 'composed'
        ? await this.#foldersOf(content.components)
        : await takeCheckpoint(content.path, this.#objects, this.#large)
    return this.#add(encodeTree(leaves), [])
  }

  async read(contentId: string): Promise<Files> {
    const known = this.#recent.get(contentId)
    if (known !== undefined) return known
    const texts = await this.#texts(contentId, await this.#walk(contentId))
    const files = Object.freeze(Object.fromEntries(texts.map(([path, text]) => [path, decodeText(text)])))
    this.#recent.put(contentId, files)
    return files
  }

  /** The same in bytes, a few files at a time. */
  async *texts(contentId: string): AsyncIterable<readonly (readonly [path: string, text: Buffer])[]> {
    const places = await this.#walk(contentId)
    for (let at = 0; at < places.length; at += FILES_AT_ONCE) yield this.#texts(contentId, places.slice(at, at + FILES_AT_ONCE))
  }

  /** The bytes of the tree itself, so that a tree that is not here is known before anything is built on it. */
  async require(contentId: string): Promise<Buffer> {
    const [body] = await this.#bodies(contentId, [contentId])
    return body ?? Buffer.alloc(0)
  }

  #writeFiles(files: Files): Promise<string> {
    checkFiles(files)
    const blobs = Object.entries(files).map(([path, text]) => ({ path, object: makeObject('blob', Buffer.from(text)) }))
    const tree = encodeTree(blobs.map(({ path, object }) => [path, { id: object.id, kind: 'file' }]))
    return this.#add(
      tree,
      blobs.map(({ object }) => object),
    )
  }

  /**
   * A component without files has no folder, as if its files had been written one by one. The others are added once more: that
   * waits for a writer about to finish, so that what is composed is as durable as its parts.
   */
  async #foldersOf(components: Readonly<Record<string, string>>): Promise<readonly (readonly [string, Leaf])[]> {
    const entries = Object.entries(components)
    if (entries.length === 0) throw invalid('bad_components', 'a composed content needs at least one component')
    for (const [name] of entries) checkComponent(name)
    const folders = entries.map(async ([name, id]): Promise<readonly (readonly [string, Leaf])[]> => {
      const body = await this.require(id)
      await this.#objects.add(makeObject('tree', body))
      return body.length === 0 ? [] : [[name, { id, kind: 'folder' }]]
    })
    return (await Promise.all(folders)).flat()
  }

  /**
   * Stage after stage, so that a tree never exists before all it names does: then one that exists
   * needs no look below it. It is still added, which waits for a writer about to finish and rewrites nothing.
   */
  async #add({ root, stages }: ReturnType<typeof encodeTree>, blobs: readonly NewObject[]): Promise<string> {
    const missing = (await this.#objects.isLoose(root.id)) ? [[root]] : [blobs, ...stages]
    for (const stage of missing) await Promise.all(stage.map((object) => this.#objects.add(object)))
    return root.id
  }

  async #walk(contentId: string): Promise<readonly Place[]> {
    const files: Place[] = []
    let level: readonly Place[] = [{ path: '', id: contentId }]
    for (let depth = 0; level.length > 0; depth += 1) {
      if (depth > FOLDERS_DEEP_MAX) throw tooLarge(`folders more than ${FOLDERS_DEEP_MAX} deep`)
      const bodies = await this.#bodies(
        contentId,
        level.map(({ id }) => id),
      )
      const entries: (Place & { readonly folder: boolean })[] = []
      for (const [index, { path }] of level.entries()) {
        for (const { name, ...entry } of decodeTree(bodies[index] ?? Buffer.alloc(0))) entries.push({ ...entry, path: path + name })
        if (files.length + entries.length > FILES_MAX) throw tooLarge(`more than ${FILES_MAX} files`)
      }
      files.push(...entries.filter((entry) => !entry.folder))
      level = entries.filter((entry) => entry.folder).map(({ path, id }) => ({ path: `${path}/`, id }))
    }
    return files
  }

  async #bodies(contentId: string, ids: readonly string[]): Promise<readonly Buffer[]> {
    if (!isObjectId(contentId)) throw noContent(contentId)
    const trees = await this.#objects.read(ids)
    return ids.map((id) => {
      const tree = trees.get(id)
      if (tree?.type !== 'tree') throw noContent(contentId)
      return tree.body
    })
  }

  async #texts(contentId: string, places: readonly Place[]): Promise<readonly (readonly [path: string, text: Buffer])[]> {
    const blobs = await this.#objects.read(places.map(({ id }) => id))
    let bytes = 0
    return places.map(({ path, id }) => {
      const blob = blobs.get(id)
      if (blob?.type !== 'blob') throw noContent(contentId)
      bytes += blob.body.length
      if (bytes > TEXT_BYTES_MAX) throw tooLarge(`more than ${TEXT_BYTES_MAX} bytes of text`)
      return [path, blob.body]
    })
  }
}

const tooLarge = (what: string): Error => unsupported('content_too_large', `the content holds ${what}; only smaller ones can be served`)

export const noContent = (contentId: string): Error => unknown('unknown_content', `content ${contentId} is not whole in this repository`)
