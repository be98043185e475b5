/** Events that wait for a later delivery: those that a target refused again and again, and those that follow from no row. */
import { isObject, type Documents } from '../contract/index.ts'
import type { WebhookMessage } from './events.ts'

/** Beyond this the oldest is given up: a target that refuses everything must not fill the disk. */
const EVENTS_MAX = 1000

export interface KeptEvent extends WebhookMessage {
  readonly recordedAt: number
}

export class KeptEvents {
  readonly #documents: Documents | null
  readonly #path: string
  readonly #events: Map<string, KeptEvent>

  private constructor(documents: Documents | null, path: string, events: readonly KeptEvent[]) {
    this.#documents = documents
    this.#path = path
    this.#events = new Map(events.map((event) => [event.id, event]))
  }

  /** No documents: kept in memory alone. */
  static async open(documents: Documents | null, path: string): Promise<KeptEvents> {
    return new KeptEvents(documents, path, await readEvents(documents, path))
  }

  get size(): number {
    return this.#events.size
  }

  all(): readonly KeptEvent[] {
    return [...this.#events.values()]
  }

  /** Answers the one that had to go for it. */
  async add(event: KeptEvent): Promise<KeptEvent | null> {
    this.#events.set(event.id, event)
    const [oldest] = this.#events.values()
    const isTooMany = this.#events.size > EVENTS_MAX && oldest !== undefined
    if (isTooMany) this.#events.delete(oldest.id)
    await this.#keep()
    return isTooMany ? oldest : null
  }

  async remove({ id }: Pick<KeptEvent, 'id'>): Promise<void> {
    if (this.#events.delete(id)) await this.#keep()
  }

  async #keep(): Promise<void> {
    await this.#documents?.write(this.#path, JSON.stringify(this.all()))
  }
}

/** A broken one is reported: to begin anew would leave events out. */
export async function readEvents(documents: Documents | null, path: string): Promise<readonly KeptEvent[]> {
  const bytes = await documents?.read(path)
  if (bytes == null) return []
  try {
    const kept: unknown = JSON.parse(Buffer.from(bytes).toString())
    if (!Array.isArray(kept) || !kept.every(isKeptEvent)) throw new Error('it holds no events')
    return kept
  } catch (error) {
    throw new Error(`webhooks/${path} cannot be read; restore it, or remove it to leave out what it holds`, { cause: error })
  }
}

export const isKeptEvent = (value: unknown): value is KeptEvent =>
  isObject(value) && typeof value['id'] === 'string' && typeof value['body'] === 'string' && typeof value['recordedAt'] === 'number'
