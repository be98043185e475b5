/** Contents as folders of real files, `svc-unpacked/<content id>`: built beside and named whole, once. */
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readPointer } from '../../../../src/contract/index.ts'
import { exists, makeFolder, sync, writeSynced } from '../../../../src/kit/index.ts'
import type { FolderUsage } from '../usage.ts'
import type { LargeFiles } from './large.ts'
import type { Workbench } from './workbench.ts'

export const UNPACKED = 'svc-unpacked'
const READ_ONLY = 0o444

interface Parts {
  readonly repository: string
  readonly workbench: Workbench
  readonly large: LargeFiles
  /** The content's files with the texts its tree holds, a few at a time. */
  texts(contentId: string): AsyncIterable<readonly (readonly [path: string, text: Buffer])[]>
  readonly usage: FolderUsage | undefined
}

export class UnpackedContents {
  readonly #parts: Parts
  /** Several who ask for one content at once wait for the same folder. */
  readonly #inFlight = new Map<string, Promise<string>>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  folder(contentId: string): Promise<string> {
    const running = this.#inFlight.get(contentId)
    if (running !== undefined) return running
    const build = this.#build(contentId).finally(() => this.#inFlight.delete(contentId))
    this.#inFlight.set(contentId, build)
    return build
  }

  async #build(contentId: string): Promise<string> {
    const { repository, workbench, usage } = this.#parts
    const folder = join(repository, UNPACKED, contentId)
    await usage?.use(folder)
    if (await exists(folder)) return folder
    await makeFolder(dirname(folder))
    await workbench.build(async (beside) => {
      await this.#fill(beside, contentId)
      await nameOnce(beside, folder)
    })
    await sync(dirname(folder))
    return folder
  }

  /** Folders are made one by one, never with those above them: one that was swept away must not come back without its files. */
  async #fill(beside: string, contentId: string): Promise<void> {
    const made = new Set<string>()
    const enter = async (folder: string): Promise<void> => {
      if (made.has(folder)) return
      if (folder !== beside) await enter(dirname(folder))
      await mkdir(folder)
      made.add(folder)
    }
    await enter(beside)
    for await (const texts of this.#parts.texts(contentId)) {
      for (const [path, text] of texts) {
        const file = join(beside, path)
        await enter(dirname(file))
        await this.#place(text, file)
      }
    }
    await Promise.all(Array.from(made, sync))
  }

  async #place(text: Buffer, file: string): Promise<void> {
    const pointer = readPointer(text)
    if (pointer === null) await writeSynced(file, text, READ_ONLY)
    else await this.#parts.large.place(pointer, file)
  }
}

/** Another process may have been quicker: its folder holds the same, and is left as it is. */
async function nameOnce(beside: string, folder: string): Promise<void> {
  try {
    await rename(beside, folder)
  } catch (error) {
    if (!(await exists(folder))) throw error
    await rm(beside, { recursive: true, force: true })
  }
}
