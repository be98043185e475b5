/**
 * A small durable content store: one file per content, large file, release and pointer, named by a hash, and written, synced and renamed, so
 * that a crash never leaves part of a file. It never removes anything, reads checkpoints into memory, and does not lock its folder, so it is
 * only an example.
 */
import { hash } from 'node:crypto'
import { link, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import {
  canonicalJson,
  checkComponent,
  checkFiles,
  conflict,
  define,
  invalid,
  isLargeFile,
  printPointer,
  readPointer,
  unknown,
  type Content,
  type ContentStore,
  type Files,
  type Release,
  type SealMark,
} from '../../src/contract/index.ts'
import { hasCode, sync, writeAtomicFile } from '../../src/kit/index.ts'

const FOLDERS = ['contents', 'large', 'releases', 'pointers', 'unpacked'] as const
/** Only such ids become paths. */
const ID = /^[0-9a-f]{40}$/
/** Stored files never change; a pointer is replaced. */
const READ_ONLY = 0o444

export default define('contents', {
  async make({ repository }) {
    if (typeof repository !== 'string') throw invalid('contents_config', 'repository: must be the path of the folder that holds the store')
    // A crash may have left part of an unpacked content, which can be made again.
    await rm(join(repository, 'unpacked'), { recursive: true, force: true })
    for (const folder of FOLDERS) await mkdir(join(repository, folder), { recursive: true, mode: 0o700 })
    return new FolderContents(repository)
  },
})

class FolderContents implements ContentStore {
  readonly #at: (...names: readonly string[]) => string
  readonly #unpacked = new Map<string, Promise<string>>()

  constructor(root: string) {
    this.#at = (...names) => join(root, ...names)
  }

  async write(content: Content): Promise<string> {
    const files = await this.#filesOf(content)
    checkFiles(files)
    const text = canonicalJson(files)
    const id = hash('sha1', text)
    await keep(this.#at('contents', id), text)
    return id
  }

  async read(contentId: string): Promise<Files> {
    const text = ID.test(contentId) ? await textOf(this.#at('contents', contentId)) : null
    if (text === null) throw unknown('unknown_content', 'this content is not kept here')
    return JSON.parse(text)
  }

  /** Once per content; the next call retries a failure. */
  unpack(contentId: string): Promise<string> {
    const known = this.#unpacked.get(contentId)
    if (known !== undefined) return known
    const folder = this.#unpack(contentId)
    this.#unpacked.set(contentId, folder)
    folder.catch(() => this.#unpacked.delete(contentId))
    return folder
  }

  async seal(contentId: string, parent: Release | null, { step, operation, at }: SealMark): Promise<Release> {
    await this.read(contentId)
    if (parent !== null) await this.hold(parent)
    const parentId = parent?.release_id ?? null
    const id = hash('sha1', canonicalJson({ contentId, parentId, step, operation, at: Math.floor(at) }))
    const release: Release = { release_id: id, parent_release_id: parentId, content_id: contentId }
    await keep(this.#at('releases', id), JSON.stringify(release))
    return release
  }

  async find(releaseId: string): Promise<Release | null> {
    const text = ID.test(releaseId) ? await textOf(this.#at('releases', releaseId)) : null
    return text === null ? null : JSON.parse(text)
  }

  async point(scenario: string, release: Release): Promise<void> {
    await this.hold(release)
    await writeAtomicFile(this.#pointer(`scenarios/${scenario}`), JSON.stringify({ scenario, release_id: release.release_id }))
  }

  /** Nothing is ever removed, so there is nothing to do. */
  async hold({ release_id }: Release): Promise<void> {
    if ((await this.find(release_id)) === null) throw unknown('unknown_release', 'this release is not kept here; seal it first')
  }

  async archive(scenario: string, as: string): Promise<string> {
    const name = `archived/${scenario}/${as}`
    const [from, to] = [this.#pointer(`scenarios/${scenario}`), this.#pointer(name)]
    if (!(await isThere(from))) return name
    // Linked, since a rename would overwrite an archive. After a crash it has both names, and the next attempt removes one.
    await link(from, to).catch(archiveExists)
    await rm(from)
    await sync(dirname(to))
    return name
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#unpacked.values())
  }

  /** A scenario's name may not be a valid file name. */
  #pointer(name: string): string {
    return this.#at('pointers', hash('sha1', name))
  }

  async #filesOf(content: Content): Promise<Files> {
    if (content.kind === 'files') return content.files
    if (content.kind === 'checkpoint') return this.#take(content.path)
    const components = Object.entries(content.components)
    if (components.length === 0) throw invalid('bad_components', 'a composed content needs at least one component')
    for (const [name] of components) checkComponent(name)
    const parts = components.map(async ([name, id]) => Object.entries(await this.read(id)).map(([path, text]) => [`${name}/${path}`, text]))
    return Object.fromEntries((await Promise.all(parts)).flat())
  }

  async #take(path: string): Promise<Files> {
    const files: [string, string][] = []
    for (const [name, file] of await checkpointFiles(path)) files.push([name, await this.#textFor(name, await readFile(file))])
    return Object.fromEntries(files)
  }

  /** The text itself, or three lines that name a large file. */
  async #textFor(name: string, bytes: Buffer): Promise<string> {
    if (!isLargeFile(name, bytes)) return bytes.toString()
    const sha256 = hash('sha256', bytes)
    await keep(this.#at('large', sha256), bytes)
    return printPointer({ sha256, bytes: bytes.length })
  }

  async #unpack(contentId: string): Promise<string> {
    const files = await this.read(contentId)
    const folder = await mkdtemp(this.#at('unpacked', `${contentId}.`))
    try {
      for (const [path, text] of Object.entries(files)) await this.#place(join(folder, path), text)
      return folder
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }

  /** A text that names no stored large file is an ordinary text. */
  async #place(file: string, text: string): Promise<void> {
    await mkdir(dirname(file), { recursive: true })
    const pointer = readPointer(Buffer.from(text))
    const large = pointer === null ? null : this.#at('large', pointer.sha256)
    if (large !== null && (await isThere(large))) await link(large, file)
    else await writeFile(file, text, { mode: READ_ONLY })
  }
}

async function checkpointFiles(path: string): Promise<readonly (readonly [name: string, file: string])[]> {
  const root = await realpath(path).catch(() => null)
  if (root === null) throw invalid('bad_checkpoint', 'the checkpoint does not exist; name a folder or a file of this machine')
  if ((await stat(root)).isFile()) return [[basename(path), root]]
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name)
      const name = relative(root, file)
      if (!entry.isFile()) throw invalid('bad_checkpoint', `${JSON.stringify(name)} of the checkpoint is no plain file; put the file there`)
      return [name, file] as const
    })
  if (files.length === 0) throw invalid('bad_checkpoint', 'the checkpoint holds no file; write its files before offering it')
  return files
}

/** An existing file has the same bytes, since its name is their hash; its name may not be synced yet. */
async function keep(path: string, bytes: string | Buffer): Promise<void> {
  if (await isThere(path)) await sync(dirname(path))
  else await writeAtomicFile(path, bytes, READ_ONLY)
}

const textOf = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(nullWhenMissing)
const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(nullWhenMissing)) !== null

function nullWhenMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT')) return null
  throw error
}

function archiveExists(error: unknown): never {
  if (hasCode(error, 'EEXIST')) throw conflict('archive_exists', 'an archive of this name exists already; choose another')
  throw error
}
