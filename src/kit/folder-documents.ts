/** Documents as files of a folder, which one process uses: whole or absent under their names, whenever the machine dies. */
import type { Dirent } from 'node:fs'
import { link, lstat, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeFolder, sync, writeAtomicFile, writeSynced } from './atomic-file.ts'
import { entriesBelow } from './entries-below.ts'
import { hasCode, isMissing } from './error-code.ts'
import { newId } from './ids.ts'
import { LaneByName } from './lane.ts'

const USUAL_MODE = 0o644

interface FolderEntry {
  readonly name: string
  readonly isFolder: boolean
  readonly bytes: number
}

interface FolderOptions {
  readonly mode?: number
  readonly syncsAppends?: boolean
}

export class FolderDocuments {
  readonly #folder: string
  readonly #mode: number
  readonly #syncsAppends: boolean
  readonly #lanes = new LaneByName()

  /** Without syncs what is added may be lost with the power: for what can be made again. */
  constructor(folder: string, { mode = USUAL_MODE, syncsAppends = true }: FolderOptions = {}) {
    this.#folder = folder
    this.#mode = mode
    this.#syncsAppends = syncsAppends
  }

  async read(path: string, from = 0): Promise<Uint8Array | null> {
    const file = await open(this.#place(path), 'r').catch(nullWhenMissing)
    try {
      const { size } = (await file?.stat()) ?? { size: 0 }
      if (file === null) return null
      if (size <= from) return Buffer.alloc(0)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file?.close()
    }
  }

  write(path: string, text: string, before?: string | null): Promise<boolean> {
    return this.#lanes.run(path, async () => {
      if (before === null) return this.#create(path, text)
      if (before !== undefined && Buffer.from((await this.read(path)) ?? []).toString() !== before) return false
      await writeAtomicFile(this.#place(path), text, this.#mode)
      return true
    })
  }

  append(path: string, text: string): Promise<void> {
    return this.#lanes.run(path, async () => {
      await makeFolder(dirname(this.#place(path)))
      const file = await open(this.#place(path), 'a', this.#mode)
      try {
        await file.writeFile(text)
        if (this.#syncsAppends) await file.datasync()
      } finally {
        await file.close()
      }
    })
  }

  async move(from: string, to: string): Promise<boolean> {
    const place = this.#place(to)
    await makeFolder(dirname(place))
    try {
      await rename(this.#place(from), place)
    } catch (error) {
      if (isMissing(error)) return false
      throw error
    }
    await sync(dirname(place))
    return true
  }

  async remove(path: string): Promise<void> {
    await rm(this.#place(path), { recursive: true, force: true })
    await sync(dirname(this.#place(path))).catch(nullWhenMissing)
  }

  async list(folder: string): Promise<readonly FolderEntry[]> {
    const place = this.#place(folder)
    const entries = ((await readdir(place, { withFileTypes: true }).catch(nullWhenMissing)) ?? []).filter(({ name }) => !isUnfinished(name))
    const listed = entries.map(async (entry) => ({ name: entry.name, isFolder: entry.isDirectory(), bytes: await bytesOf(place, entry) }))
    return (await Promise.all(listed)).sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Linked under its name once it is whole: of two at once one is first. */
  async #create(path: string, text: string): Promise<boolean> {
    const place = this.#place(path)
    await makeFolder(dirname(place))
    const beside = join(dirname(place), `.${basename(place)}.${newId()}`)
    try {
      await writeSynced(beside, text, this.#mode)
      await link(beside, place)
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false
      throw error
    } finally {
      await rm(beside, { force: true })
    }
    await sync(dirname(place))
    return true
  }

  #place(path: string): string {
    return join(this.#folder, path)
  }
}

/** What a crash left half written has a hidden name. */
const isUnfinished = (name: string): boolean => name.startsWith('.')

async function bytesOf(folder: string, entry: Dirent): Promise<number> {
  const place = join(folder, entry.name)
  if (!entry.isDirectory()) return (await lstat(place).catch(nullWhenMissing))?.size ?? 0
  const sizes = (await entriesBelow(place))
    .filter((each) => each.isFile())
    .map((each) => lstat(join(each.parentPath, each.name)).catch(nullWhenMissing))
  return (await Promise.all(sizes)).reduce((sum, found) => sum + (found?.size ?? 0), 0)
}

function nullWhenMissing(error: unknown): null {
  if (isMissing(error)) return null
  throw error
}
