/** A content store that forgets: the same answers as the durable one, for tests and trials. */
import { hash } from 'node:crypto'
import { canonicalJson, checkComponent, checkFiles, conflict, define, invalid, unknown } from '../../../src/contract/index.ts'
import type { Content, ContentStore, Files, Release, SealMark } from '../../../src/contract/index.ts'
import { takeCheckpoint } from './checkpoint.ts'
import { UnpackedFolders } from './unpacked.ts'

export default define('contents', { make: () => new MemoryContents() })

class MemoryContents implements ContentStore {
  readonly #contents = new Map<string, Files>()
  /** What is no text, by the text that stands for it. */
  readonly #large = new Map<string, Buffer>()
  readonly #unpacked = new UnpackedFolders()
  readonly #releases = new Map<string, Release>()
  readonly #pointers = new Map<string, string>()

  async write(content: Content): Promise<string> {
    const files = await this.#filesOf(content)
    checkFiles(files)
    const id = hash('sha1', canonicalJson(files))
    this.#contents.set(id, { ...files })
    return id
  }

  async read(contentId: string): Promise<Files> {
    const files = this.#contents.get(contentId)
    if (files === undefined) throw unknown('unknown_content', `content ${contentId} is not kept here`)
    return { ...files }
  }

  async unpack(contentId: string): Promise<string> {
    const files = await this.read(contentId)
    return this.#unpacked.folder(contentId, files, (text) => this.#large.get(text) ?? text)
  }

  async seal(contentId: string, parent: Release | null, mark: SealMark): Promise<Release> {
    await this.read(contentId)
    if (parent !== null) this.#require(parent)
    const at = Math.floor(mark.at)
    if (!Number.isSafeInteger(at) || at < 0) throw invalid('bad_time', 'the time of a release is seconds since the epoch')
    const parentId = parent?.release_id ?? null
    const id = hash('sha1', canonicalJson({ contentId, parentId, step: mark.step, operation: mark.operation, at }))
    const release = { release_id: id, parent_release_id: parentId, content_id: contentId }
    this.#releases.set(id, release)
    return release
  }

  async find(releaseId: string): Promise<Release | null> {
    return this.#releases.get(releaseId) ?? null
  }

  async point(scenario: string, release: Release): Promise<void> {
    this.#require(release)
    this.#pointers.set(`scenarios/${scenario}`, release.release_id)
  }

  /** Nothing is ever forgotten before everything is, so there is nothing to hold on to. */
  async hold(release: Release): Promise<void> {
    this.#require(release)
  }

  async archive(scenario: string, as: string): Promise<string> {
    const [from, to] = [`scenarios/${scenario}`, `archived/${scenario}/${as}`]
    const releaseId = this.#pointers.get(from)
    if (releaseId === undefined) return to
    if (this.#pointers.has(to)) throw conflict('archive_exists', 'an archive of this name exists already; choose another')
    this.#pointers.set(to, releaseId)
    this.#pointers.delete(from)
    return to
  }

  close(): Promise<void> {
    return this.#unpacked.close()
  }

  async #filesOf(content: Content): Promise<Files> {
    if (content.kind === 'files') return content.files
    if (content.kind === 'checkpoint') return takeCheckpoint(content.path, this.#large)
    const components = Object.entries(content.components)
    if (components.length === 0) throw invalid('bad_components', 'a composed content needs at least one component')
    for (const [name] of components) checkComponent(name)
    const folders = components.map(async ([name, id]) =>
      Object.entries(await this.read(id)).map(([path, text]) => [`${name}/${path}`, text]),
    )
    return Object.fromEntries((await Promise.all(folders)).flat())
  }

  #require(release: Release): void {
    if (!this.#releases.has(release.release_id))
      throw unknown('unknown_release', `release ${release.release_id} is not kept here; seal it first`)
  }
}
