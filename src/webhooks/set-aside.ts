/** Events that a target refused again and again: kept beside the positions, so that the others go on and these are sent again later. */
import { readFile } from 'node:fs/promises'
import { isObject } from '../contract/index.ts'
import { isMissing, writeAtomicFile } from '../kit/index.ts'
import type { WebhookMessage } from './events.ts'

/** Beyond this the oldest is given up: a target that refuses everything must not fill the disk. */
const EVENTS_MAX = 1000

export interface SetAsideEvent extends WebhookMessage {
  readonly recordedAt: number
}

export class SetAside {
  readonly #file: string | null
  readonly #events: Map<string, SetAsideEvent>

  private constructor(file: string | null, events: readonly SetAsideEvent[]) {
    this.#file = file
    this.#events = new Map(events.map((event) => [event.id, event]))
  }

  /** No file: kept in memory alone. */
  static async open(file: string | null): Promise<SetAside> {
    return new SetAside(file, file === null ? [] : await readEvents(file))
  }

  get size(): number {
    return this.#events.size
  }

  all(): readonly SetAsideEvent[] {
    return [...this.#events.values()]
  }

  /** Answers the one that had to go for it. */
  async add(event: SetAsideEvent): Promise<SetAsideEvent | null> {
    this.#events.set(event.id, event)
    const [oldest] = this.#events.values()
    const isTooMany = this.#events.size > EVENTS_MAX && oldest !== undefined
    if (isTooMany) this.#events.delete(oldest.id)
    await this.#keep()
    return isTooMany ? oldest : null
  }

  async remove({ id }: SetAsideEvent): Promise<void> {
    if (this.#events.delete(id)) await this.#keep()
  }

  async #keep(): Promise<void> {
    if (this.#file !== null) await writeAtomicFile(this.#file, JSON.stringify(this.all()), 0o600)
  }
}

/** A broken file is reported: to begin anew would leave events out. */
async function readEvents(file: string): Promise<readonly SetAsideEvent[]> {
  try {
    const kept: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (!Array.isArray(kept) || !kept.every(isEvent)) throw new Error('it holds no events')
    return kept
  } catch (error) {
    if (isMissing(error)) return []
    throw new Error(`${file} cannot be read; restore it, or remove it to leave out what was set aside`, { cause: error })
  }
}

const isEvent = (value: unknown): value is SetAsideEvent =>
  isObject(value) && typeof value['id'] === 'string' && typeof value['body'] === 'string' && typeof value['recordedAt'] === 'number'
