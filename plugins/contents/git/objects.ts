/** Git objects as loose files: named by what they hold, durable once `add` resolves, never rewritten. */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import { unavailable } from '../../../src/contract/index.ts'
import { exists, isMissing, syncFolder, writeSynced } from './disk.ts'
import { parseObject } from './object.ts'
import type { NewObject, StoredObject } from './object.ts'
import { readPacked } from './packed.ts'
import { Slots } from './slots.ts'

/** Files open at once, over all writers and readers of one store. */
const OPEN_FILES_MAX = 16
/** How often a half-written file may vanish under its writer because another process opened the repository and swept. */
const WRITE_ATTEMPTS_MAX = 5
const READ_ONLY = 0o444
/** Where objects are written before they are named. Git looks only into `objects`, so it never meets half of one. */
const WRITING = 'svc-writing'

const deflated = promisify<Buffer, Buffer>(deflate)
const inflated = promisify<Buffer, Buffer>(inflate)

export class Objects {
  readonly #repository: string
  readonly #slots = new Slots(OPEN_FILES_MAX)
  /** Two writers of the same object share one write, so neither hears "durable" before it is. */
  readonly #inFlight = new Map<string, Promise<void>>()

  constructor(repository: string) {
    this.#repository = repository
  }

  /** Removes what a crash left half-written. A living writer whose file goes with it writes again. */
  async sweep(): Promise<void> {
    const folder = join(this.#repository, WRITING)
    await mkdir(folder, { recursive: true })
    const left = await readdir(folder)
    await Promise.all(left.map((name) => rm(join(folder, name), { force: true })))
  }

  async has(id: string): Promise<boolean> {
    if (await exists(this.#path(id))) return true
    const packed = await readPacked(this.#repository, [id])
    return packed.has(id)
  }

  add(object: NewObject): Promise<void> {
    const running = this.#inFlight.get(object.id)
    if (running !== undefined) return running
    const write = this.#slots.run(() => this.#write(object)).finally(() => this.#inFlight.delete(object.id))
    this.#inFlight.set(object.id, write)
    return write
  }

  /** Those of the ids that are here. What is not loose is asked of git, all at once. */
  async read(ids: Iterable<string>): Promise<ReadonlyMap<string, StoredObject>> {
    const found = new Map<string, StoredObject>()
    const elsewhere: string[] = []
    const readOne = async (id: string): Promise<void> => {
      const object = await this.#slots.run(() => readLoose(id, this.#path(id)))
      if (object === null) elsewhere.push(id)
      else found.set(id, object)
    }
    await Promise.all(Array.from(new Set(ids), readOne))
    for (const [id, object] of await readPacked(this.#repository, elsewhere)) found.set(id, object)
    return found
  }

  /** An object that exists is not written again, but its folder is synced: whoever named it may have died before doing so. */
  async #write(object: NewObject): Promise<void> {
    const path = this.#path(object.id)
    const folder = dirname(path)
    if (!(await exists(path))) {
      if ((await mkdir(folder, { recursive: true })) !== undefined) await syncFolder(dirname(folder))
      await this.#place(path, await deflated(object.bytes))
    }
    await syncFolder(folder)
  }

  async #place(path: string, bytes: Uint8Array): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const beside = join(this.#repository, WRITING, randomUUID())
      try {
        await writeSynced(beside, bytes, READ_ONLY)
        return await rename(beside, path)
      } catch (error) {
        await rm(beside, { force: true })
        if (!isMissing(error) || attempt === WRITE_ATTEMPTS_MAX) throw error
      }
    }
  }

  #path(id: string): string {
    return join(this.#repository, 'objects', id.slice(0, 2), id.slice(2))
  }
}

async function readLoose(id: string, path: string): Promise<StoredObject | null> {
  try {
    return parseObject(id, await inflated(await readFile(path)))
  } catch (error) {
    if (isMissing(error)) return null
    throw unavailable('content_damaged', `object ${id} of the content repository cannot be read; run git fsck there`, { cause: error })
  }
}
