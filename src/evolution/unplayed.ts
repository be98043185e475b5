/** What a proposer answered in a step that could not be played: kept for the next try of the same step, so that nobody pays for it twice. */
import { readFile } from 'node:fs/promises'
import type { Proposal } from '../contract/index.ts'
import { removeFile, writeAtomicFile } from '../kit/index.ts'

interface Kept {
  readonly key: string
  readonly answer: Proposal
}

/** On disk, since the thread of a trainer may end while its step rests; in memory too, since the disk may be what is wrong. */
export class Unplayed {
  readonly #path: string
  #kept: Kept | null = null

  constructor(path: string) {
    this.#path = path
  }

  /** The answer to the same question, where there is one. */
  async find(key: string): Promise<Proposal | null> {
    this.#kept ??= await read(this.#path)
    return this.#kept?.key === key ? this.#kept.answer : null
  }

  async keep(key: string, answer: Proposal): Promise<void> {
    this.#kept = { key, answer }
    await writeAtomicFile(this.#path, JSON.stringify(this.#kept)).catch(() => undefined)
  }

  async forget(): Promise<void> {
    if (this.#kept === null) return
    await removeFile(this.#path).catch(() => undefined)
    this.#kept = null
  }
}

/** One that cannot be read is none: it only ever saves work. */
async function read(path: string): Promise<Kept | null> {
  try {
    const kept: Kept = JSON.parse(await readFile(path, 'utf8'))
    return Array.isArray(kept.answer.mutations) ? kept : null
  } catch {
    return null
  }
}
