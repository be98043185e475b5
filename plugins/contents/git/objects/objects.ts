/** Git objects as loose files: named by what they hold, durable once `add` resolves, never rewritten. */
import { readFile, rename, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import { unavailable } from '../../../../src/contract/index.ts'
import { exists, isMissing, makeFolder, Slots, sync, writeSynced } from '../../../../src/kit/index.ts'
import type { Workbench } from '../files/workbench.ts'
import { git } from '../process.ts'
import { makeObject, parseObject, isObjectType } from './object.ts'
import type { NewObject, StoredObject } from './object.ts'

const NEWLINE = 0x0a

/** Files open at once, over all writers and readers of one store. */
const OPEN_FILES_MAX = 16
const READ_ONLY = 0o444

const deflated = promisify<Buffer, Buffer>(deflate)
const inflated = promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(inflate)
/** A small file may inflate to any size. */
const OBJECT_BYTES_MAX = 256 * 1024 * 1024

export class Objects {
  readonly #repository: string
  readonly #workbench: Workbench
  readonly #slots = new Slots(OPEN_FILES_MAX)
  /** Two writers of the same object share one write, so neither hears "durable" before it is. */
  readonly #inFlight = new Map<string, Promise<void>>()

  constructor(repository: string, workbench: Workbench) {
    this.#repository = repository
    this.#workbench = workbench
  }

  /** Whether it is a loose file. One in a pack is written again rather than asked for: that costs no process, now or later. */
  isLoose(id: string): Promise<boolean> {
    return exists(this.#path(id))
  }

  add(object: NewObject): Promise<void> {
    const running = this.#inFlight.get(object.id)
    if (running !== undefined) return running
    const write = this.#slots.run(() => this.#write(object)).finally(() => this.#inFlight.delete(object.id))
    this.#inFlight.set(object.id, write)
    return write
  }

  /** Those of the ids that are here. What is not loose is asked of git, all at once, and is loose from then on. */
  async read(ids: Iterable<string>): Promise<ReadonlyMap<string, StoredObject>> {
    const found = new Map<string, StoredObject>()
    const elsewhere: string[] = []
    const readOne = async (id: string): Promise<void> => {
      const object = await this.#slots.run(() => readLoose(id, this.#path(id)))
      if (object === null) elsewhere.push(id)
      else found.set(id, object)
    }
    await Promise.all(Array.from(new Set(ids), readOne))
    const packed = await readPacked(this.#repository, elsewhere)
    for (const [id, object] of packed) found.set(id, object)
    // A disk too full for a second copy does not keep the first one from being read.
    await Promise.all(Array.from(packed.values(), ({ type, body }) => this.add(makeObject(type, body)).catch(() => undefined)))
    return found
  }

  /** An object that exists is not written again, but its folder is synced: the process that wrote it may have died before that. */
  async #write(object: NewObject): Promise<void> {
    const path = this.#path(object.id)
    const folder = dirname(path)
    if (!(await exists(path))) {
      await makeFolder(folder)
      const bytes = await deflated(object.bytes)
      await this.#workbench.build(async (beside) => {
        await writeSynced(beside, bytes, READ_ONLY)
        await rename(beside, path)
      })
    }
    await sync(folder)
  }

  #path(id: string): string {
    return join(this.#repository, 'objects', id.slice(0, 2), id.slice(2))
  }
}

async function readLoose(id: string, path: string): Promise<StoredObject | null> {
  try {
    return parseObject(id, await inflated(await readFile(path), { maxOutputLength: OBJECT_BYTES_MAX }))
  } catch (error) {
    if (isMissing(error)) return null
    throw damaged(id, error)
  }
}

const damaged = (id: string, cause?: unknown): Error =>
  unavailable('content_damaged', `object ${id} of the content repository cannot be read; run git fsck there`, { cause })

/** Objects that `git gc` moved into packs: read through git itself, one process for all of them. */
async function readPacked(repository: string, ids: readonly string[]): Promise<ReadonlyMap<string, StoredObject>> {
  if (ids.length === 0 || !(await hasPacks(repository))) return new Map()
  const answer = await git([`--git-dir=${repository}`, 'cat-file', '--batch'], ids.map((id) => `${id}\n`).join(''))
  return parseBatch(answer)
}

/** Without a pack there is nothing to ask git about, and an unknown id costs no process. */
async function hasPacks(repository: string): Promise<boolean> {
  const names = await readdir(join(repository, 'objects', 'pack')).catch(() => [])
  return names.some((name) => name.endsWith('.idx'))
}

/** `<id> <type> <size>\n<body>\n` for what is there, `<id> missing\n` for what is not. Git does not hold packed bytes against their id. */
function parseBatch(answer: Buffer): Map<string, StoredObject> {
  const found = new Map<string, StoredObject>()
  let at = 0
  while (at < answer.length) {
    const lineEnd = answer.indexOf(NEWLINE, at)
    const [id = '', type = '', size] = answer.toString('latin1', at, lineEnd).split(' ')
    at = lineEnd + 1
    if (size === undefined) continue
    const bodyEnd = at + Number(size)
    const body = answer.subarray(at, bodyEnd)
    at = bodyEnd + 1
    if (!isObjectType(type)) continue
    if (makeObject(type, body).id !== id) throw damaged(id)
    found.set(id, { type, body })
  }
  return found
}
