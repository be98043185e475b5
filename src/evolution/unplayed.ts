/** Keeps the proposal of a step that could not be played for the next attempt of the same step, so that it is paid for once. */
import { readFile } from 'node:fs/promises'
import type { Proposal } from '../contract/index.ts'
import { removeFile, writeAtomicFile } from '../kit/index.ts'

interface Kept {
  readonly key: string
  readonly answers: readonly Proposal[]
}

/** On disk, since the trainer's thread may end before the retry; in memory too, since the disk may be the problem. */
export class UnplayedProposal {
  readonly #path: string
  #kept: Kept | null = null

  constructor(path: string) {
    this.#path = path
  }

  async find(key: string): Promise<readonly Proposal[] | null> {
    this.#kept ??= await read(this.#path)
    return this.#kept?.key === key ? this.#kept.answers : null
  }

  async keep(key: string, answers: readonly Proposal[]): Promise<void> {
    this.#kept = { key, answers }
    await writeAtomicFile(this.#path, JSON.stringify(this.#kept)).catch(() => undefined)
  }

  async forget(): Promise<void> {
    if (this.#kept === null) return
    await removeFile(this.#path).catch(() => undefined)
    this.#kept = null
  }
}

/** An unreadable file counts as missing. */
async function read(path: string): Promise<Kept | null> {
  try {
    const kept: Kept = JSON.parse(await readFile(path, 'utf8'))
    return kept.answers.every(({ mutations }) => Array.isArray(mutations)) ? kept : null
  } catch {
    return null
  }
}
