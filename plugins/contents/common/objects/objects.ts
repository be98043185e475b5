/** Git objects as loose files: named by what they hold, durable once `add` resolves, never rewritten. */
import { readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import { unavailable } from '../../../../src/contract/index.ts'
import { exists, isMissing, makeFolder, Slots, sync, writeSynced } from '../../../../src/kit/index.ts'
import type { Workbench } from '../files/workbench.ts'
import type { FolderUsage } from '../usage.ts'
import { makeObject, parseObject } from './object.ts'
import type { NewObject, StoredObject } from './object.ts'

/** Files open at once, over all writers and readers of one store. */
const OPEN_FILES_MAX = 16
const READ_ONLY = 0o444

const deflated = promisify<Buffer, Buffer>(deflate)
const inflated = promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(inflate)
/** A small file may inflate to any size. */
const OBJECT_BYTES_MAX = 256 * 1024 * 1024

/** Where objects are that are no loose files here. */
export interface ObjectsBehind {
  /** Those of the ids that are there, each compared with its id. */
  read(ids: readonly string[]): Promise<ReadonlyMap<string, StoredObject>>
  /** Keeps the bytes of a loose file there too. Done before the file is here, so that what is here is there as well. */
  write?(id: string, deflatedBytes: Buffer): Promise<void>
}

type WriteBefore = (id: string, deflatedBytes: Buffer) => Promise<void> | undefined

export class Objects {
  readonly #repository: string
  readonly #workbench: Workbench
  readonly #behind: ObjectsBehind
  readonly #usage: FolderUsage | undefined
  readonly #slots = new Slots(OPEN_FILES_MAX)
  /** Two writers of the same object share one write, so neither hears "durable" before it is. */
  readonly #inFlight = new Map<string, Promise<void>>()

  constructor(repository: string, workbench: Workbench, behind: ObjectsBehind, usage?: FolderUsage) {
    this.#repository = repository
    this.#workbench = workbench
    this.#behind = behind
    this.#usage = usage
  }

  /** Whether it is a loose file. One in a pack is written again rather than asked for: that costs no process, now or later. */
  isLoose(id: string): Promise<boolean> {
    return exists(this.#path(id))
  }

  add(object: NewObject): Promise<void> {
    return this.#once(object, (id, bytes) => this.#behind.write?.(id, bytes))
  }

  /** Those of the ids that are here or behind. What is not loose is asked for all at once, and is loose from then on. */
  async read(ids: Iterable<string>): Promise<ReadonlyMap<string, StoredObject>> {
    const found = new Map<string, StoredObject>()
    const elsewhere: string[] = []
    const readOne = async (id: string): Promise<void> => {
      const object = await this.#slots.run(() => readLoose(id, this.#path(id)))
      if (object === null) return void elsewhere.push(id)
      found.set(id, object)
      void this.#usage?.use(this.#path(id))
    }
    await Promise.all(Array.from(new Set(ids), readOne))
    if (elsewhere.length === 0) return found
    const behind = await this.#behind.read(elsewhere)
    for (const [id, object] of behind) found.set(id, object)
    // A disk too full for a second copy does not keep the first one from being read.
    await Promise.all(Array.from(behind.values(), ({ type, body }) => this.#once(makeObject(type, body)).catch(() => undefined)))
    return found
  }

  #once(object: NewObject, before?: WriteBefore): Promise<void> {
    const running = this.#inFlight.get(object.id)
    if (running !== undefined) return running
    const write = this.#slots.run(() => this.#write(object, before)).finally(() => this.#inFlight.delete(object.id))
    this.#inFlight.set(object.id, write)
    return write
  }

  /** An object that exists is not written again, but its folder is synced: the process that wrote it may have died before that. */
  async #write(object: NewObject, before?: WriteBefore): Promise<void> {
    const path = this.#path(object.id)
    const folder = dirname(path)
    if (!(await exists(path))) {
      await makeFolder(folder)
      const bytes = await deflated(object.bytes)
      await before?.(object.id, bytes)
      await this.#workbench.build(async (beside) => {
        await writeSynced(beside, bytes, READ_ONLY)
        await rename(beside, path)
      })
      this.#usage?.grew(bytes.length)
    }
    await sync(folder)
  }

  #path(id: string): string {
    return join(this.#repository, 'objects', id.slice(0, 2), id.slice(2))
  }
}

/** The object of that id out of the bytes of a loose file. Throws when they are not that. */
export async function readDeflated(id: string, bytes: Buffer): Promise<StoredObject> {
  return parseObject(id, await inflated(bytes, { maxOutputLength: OBJECT_BYTES_MAX }))
}

async function readLoose(id: string, path: string): Promise<StoredObject | null> {
  try {
    return await readDeflated(id, await readFile(path))
  } catch (error) {
    if (isMissing(error)) return null
    throw damagedObject(id, error)
  }
}

export const damagedObject = (id: string, cause?: unknown): Error =>
  unavailable('content_damaged', `object ${id} of the content repository cannot be read; run git fsck there`, { cause })
