/** Contents as folders of real files, below one temporary folder that goes when the store does. */
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PRODUCT } from '../../../src/contract/index.ts'
import type { Files } from '../../../src/contract/index.ts'

const READ_ONLY = 0o444

export class UnpackedFolders {
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
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, bytesOf(text), { flag: 'wx', mode: READ_ONLY })
    }
    await rename(beside, folder)
    return folder
  }
}
