/** Keeps the proposal of a step that could not be played for the next attempt of the same step, so that it is paid for once. */
import type { Documents, Proposal } from '../contract/index.ts'

interface Kept {
  readonly key: string
  readonly answers: readonly Proposal[]
}

/** On disk, since the trainer's thread may end before the retry; in memory too, since the disk may be the problem. */
export class UnplayedProposal {
  readonly #documents: Documents
  readonly #path: string
  #kept: Kept | null = null

  constructor(documents: Documents, component: string) {
    this.#documents = documents
    this.#path = `unplayed${encodeURIComponent(component)}.json`
  }

  async find(key: string): Promise<readonly Proposal[] | null> {
    this.#kept ??= await read(this.#documents, this.#path)
    return this.#kept?.key === key ? this.#kept.answers : null
  }

  async keep(key: string, answers: readonly Proposal[]): Promise<void> {
    this.#kept = { key, answers }
    await this.#documents.write(this.#path, JSON.stringify(this.#kept)).catch(() => undefined)
  }

  async forget(): Promise<void> {
    if (this.#kept === null) return
    await this.#documents.remove(this.#path).catch(() => undefined)
    this.#kept = null
  }
}

/** An unreadable file counts as missing. */
async function read(documents: Documents, path: string): Promise<Kept | null> {
  try {
    const kept: Kept = JSON.parse(Buffer.from((await documents.read(path)) ?? []).toString())
    return kept.answers.every(({ mutations }) => Array.isArray(mutations)) ? kept : null
  } catch {
    return null
  }
}
