/** Which events of spent money there were, and which of them wait. They follow from no row, so they are kept before they are sent. */
import { isObject, type Documents } from '../contract/index.ts'
import { isKeptEvent, type KeptEvent } from './kept-events.ts'
import type { SpentEvent } from './spenders.ts'

/** Their days are over, however clocks were set. */
const FORGET_SECONDS = 3 * 86_400

export class SpentBook {
  readonly #documents: Documents | null
  readonly #path: string
  readonly #waiting: Map<string, KeptEvent>
  /** When each mark was made. */
  readonly #marks: Map<string, number>

  private constructor(documents: Documents | null, path: string, { waiting, marks }: ReturnType<typeof bookIn>) {
    this.#documents = documents
    this.#path = path
    this.#waiting = new Map(waiting.map((event) => [event.id, event]))
    this.#marks = new Map(marks)
  }

  /** No documents: kept in memory alone. */
  static async open(documents: Documents | null, path: string): Promise<SpentBook> {
    const bytes = await documents?.read(path)
    try {
      return new SpentBook(documents, path, bookIn(bytes == null ? '{"waiting":[],"marks":[]}' : Buffer.from(bytes).toString()))
    } catch (error) {
      throw new Error(`webhooks/${path} cannot be read; restore it, or remove it to be told once more of what is spent`, { cause: error })
    }
  }

  get waiting(): readonly KeptEvent[] {
    return [...this.#waiting.values()]
  }

  /** Those that there were are left out. */
  async add(events: readonly SpentEvent[]): Promise<void> {
    const fresh = events.filter(({ id }) => !this.#marks.has(id))
    if (fresh.length === 0) return
    for (const { marks, ...event } of fresh) {
      this.#waiting.set(event.id, event)
      for (const mark of marks) this.#marks.set(mark, event.recordedAt)
      for (const [mark, at] of this.#marks) if (event.recordedAt - at > FORGET_SECONDS) this.#marks.delete(mark)
    }
    await this.#keep()
  }

  async done({ id }: KeptEvent): Promise<void> {
    this.#waiting.delete(id)
    await this.#keep()
  }

  async #keep(): Promise<void> {
    await this.#documents?.write(this.#path, JSON.stringify({ waiting: this.waiting, marks: [...this.#marks] }))
  }
}

function bookIn(text: string): { readonly waiting: readonly KeptEvent[]; readonly marks: readonly (readonly [string, number])[] } {
  const kept: unknown = JSON.parse(text)
  const { waiting, marks } = isObject(kept) ? kept : {}
  if (!Array.isArray(waiting) || !waiting.every(isKeptEvent) || !Array.isArray(marks) || !marks.every(isMark))
    throw new Error('it holds no events')
  return { waiting, marks }
}

const isMark = (mark: unknown): mark is readonly [string, number] =>
  Array.isArray(mark) && typeof mark[0] === 'string' && typeof mark[1] === 'number'
