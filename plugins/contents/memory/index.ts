/** A content store that forgets: the same answers as the durable one, for tests and trials. */
import { hash } from 'node:crypto'
import { readdir, readFile, realpath, stat, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join, dirname } from 'node:path'
import { tmpdir } from 'node:os'
import {
  canonicalJson,
  checkComponent,
  checkFiles,
  conflict,
  define,
  invalid,
  unknown,
  isLargeFile,
  printPointer,
  PRODUCT,
} from '../../../src/contract/index.ts'
import type { Content, ContentStore, Files, Release, SealMark } from '../../../src/contract/index.ts'
import { mkdirp } from '../../../src/kit/index.ts'

const READ_ONLY = 0o444

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

/**
 * A folder of this machine taken as it is: texts as texts, and everything else as three lines that name its bytes. Bytes that are no text
 * here go into `large`, by the text that stands for them.
 */
async function takeCheckpoint(path: string, large: Map<string, Buffer>): Promise<Files> {
  const root = await realpath(path).catch(() => null)
  if (root === null) throw invalid('bad_checkpoint', 'the checkpoint does not exist; name a folder or a file of this machine')
  const names = (await stat(root)).isDirectory() ? await namesBelow(root) : null
  if (names?.length === 0) throw invalid('bad_checkpoint', 'the checkpoint holds no file; write its files before offering it')
  const sources = names === null ? [[basename(path), root] as const] : names.map((name) => [name, join(root, name)] as const)
  const texts = sources.map(async ([name, file]) => [name, textOf(name, await bytesIn(name, file), large)] as const)
  return Object.fromEntries(await Promise.all(texts))
}

async function namesBelow(root: string, folder = ''): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true })
  const names = entries.map(async (entry) => {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return namesBelow(root, name)
    if (!entry.isFile()) throw refused(name, 'is neither a file nor a folder; put the file itself there')
    return [name]
  })
  return (await Promise.all(names)).flat()
}

async function bytesIn(name: string, file: string): Promise<Buffer> {
  if (!(await stat(file)).isFile()) throw refused(name, 'is not a plain file; put the file itself there')
  return readFile(file)
}

function textOf(name: string, bytes: Buffer, large: Map<string, Buffer>): string {
  if (!isLargeFile(name, bytes)) return bytes.toString()
  const pointer = printPointer({ sha256: hash('sha256', bytes), bytes: bytes.length })
  large.set(pointer, bytes)
  return pointer
}

const refused = (name: string, problem: string): Error => invalid('bad_checkpoint', `${JSON.stringify(name)} of the checkpoint ${problem}`)

/** Contents as folders of real files, below one temporary folder that goes when the store does. */
class UnpackedFolders {
  #root: Promise<string> | null = null
  readonly #folders = new Map<string, Promise<string>>()

  /** `bytesOf` answers what a text stands for. */
  folder(contentId: string, files: Files, bytesOf: (text: string) => string | Buffer): Promise<string> {
    const known = this.#folders.get(contentId)
    if (known !== undefined) return known
    const made = this.#build(contentId, files, bytesOf)
    this.#folders.set(contentId, made)
    made.catch(() => this.#folders.delete(contentId))
    return made
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#folders.values())
    if (this.#root !== null) await rm(await this.#root, { recursive: true, force: true })
  }

  async #build(contentId: string, files: Files, bytesOf: (text: string) => string | Buffer): Promise<string> {
    this.#root ??= mkdtemp(join(tmpdir(), `${PRODUCT}-unpacked-`))
    const folder = join(await this.#root, contentId)
    const beside = await mkdtemp(`${folder}.`)
    for (const [path, text] of Object.entries(files)) {
      const file = join(beside, path)
      await mkdirp(dirname(file))
      await writeFile(file, bytesOf(text), { flag: 'wx', mode: READ_ONLY })
    }
    await rename(beside, folder)
    return folder
  }
}
