/**
 * Reads pending records from the store, no further than the next step needs: instructions into a queue, traffic into the processor. Every
 * record read is in one of four states: held, set aside, settled by a row, or waiting in the queue.
 */
import {
  ASIDE_REASONS_MAX,
  isMetadataOnly,
  PENDING_PAGE_RECORDS_MAX,
  type JsonObject,
  type PendingRecord,
  type Processor,
  type RequestType,
  type ScenarioStore,
  type TrainingMode,
} from '../contract/index.ts'
import { readTrain } from '../records/index.ts'
import { MODES, type Instruction, type Waiting } from './modes.ts'
import type { TrainerMemory } from './rows.ts'

export interface FeedParts {
  readonly store: Pick<ScenarioStore, 'pending'>
  readonly component: string
  readonly processor: Processor
  /** With several trainers only one takes the instructions, so that each is consumed by one row. */
  readonly takesInstructions: boolean
}

export class Feed {
  readonly #store: Pick<ScenarioStore, 'pending'>
  readonly #component: string
  readonly #processor: Processor
  readonly #takesInstructions: boolean
  #queue: readonly Instruction[] = []
  /** Records the processor holds, by id, in reading order. After a restart, reading begins at the first one's sequence. */
  readonly #held = new Map<string, number>()
  /** Unusable records that no row names yet. */
  readonly #aside = new Set<string>()
  readonly #asideCounts: Map<string, number>
  #instructionsRead = 0
  #trafficRead: number
  /** Whether unread records may exist. */
  readonly #more: { instructions: boolean; traffic: boolean }

  /** Continues where the latest row says that everything before is settled. */
  constructor({ store, component, processor, takesInstructions }: FeedParts, memory: TrainerMemory) {
    this.#store = store
    this.#component = component
    this.#processor = processor
    this.#takesInstructions = takesInstructions
    this.#more = { instructions: takesInstructions, traffic: true }
    this.#trafficRead = memory.settled_through
    this.#asideCounts = new Map(Object.entries(memory.set_aside))
  }

  /** A record of that type was appended; false when this trainer does not read the type. */
  announce(type: RequestType): boolean {
    const what = type === 'train' ? 'instructions' : 'traffic'
    const isRead = type === 'train' ? this.#takesInstructions : this.#processor.reads.includes(type)
    if (isRead) this.#more[what] = true
    return isRead
  }

  /** Reads until the mode has enough for a step, or nothing is left. Traffic that the mode does not take stays in the store. */
  async fill(mode: TrainingMode): Promise<void> {
    while (this.#more.instructions) await this.#readInstructions()
    if (!MODES[mode].takesTraffic) return
    while (this.#more.traffic && !this.#units().ready) await this.#readTraffic()
  }

  waiting(): Waiting {
    return { instruction: this.#queue[0] ?? null, units: this.#units() }
  }

  /** Unusable records join the next row, so that they are never read again. */
  aside(): readonly string[] {
    return [...this.#aside]
  }

  /** What the row that consumes these records remembers, so that a restart reads little again. */
  memory(consumed: readonly string[], trainer: JsonObject): TrainerMemory {
    return { settled_through: this.#settledThrough(new Set(consumed)), set_aside: Object.fromEntries(this.#asideCounts), trainer }
  }

  settle(consumed: readonly string[]): void {
    const gone = new Set(consumed)
    this.#queue = this.#queue.filter(({ request }) => !gone.has(request.id))
    for (const id of consumed) {
      this.#aside.delete(id)
      this.#held.delete(id)
    }
    for (const id of this.#useless(consumed)) this.#setAside(id, 'an exchange it quotes was used by another report')
  }

  /** The row is durable even if the processor throws here. #units keeps consumed records from being taken again. */
  #useless(consumed: readonly string[]): readonly string[] {
    try {
      return this.#processor.settle(consumed).filter((id) => this.#held.has(id))
    } catch {
      return []
    }
  }

  /** The ids that the processor holds and no row has consumed. */
  own(ids: readonly string[]): readonly string[] {
    return ids.filter((id) => this.#held.has(id))
  }

  get pendingInstructions(): number {
    return this.#queue.length
  }

  status(): JsonObject {
    return {
      ...this.#processor.status(),
      buffered_requests: this.pendingInstructions,
      pending_instructions: this.pendingInstructions,
      set_aside: Object.fromEntries(this.#asideCounts),
    }
  }

  #settledThrough(consumed: ReadonlySet<string>): number {
    for (const [id, sequence] of this.#held) if (!consumed.has(id)) return sequence - 1
    return this.#trafficRead
  }

  /** A processor may be third-party code: a unit of consumed or foreign records would be trained on twice. */
  #units(): Waiting['units'] {
    const { samples, ready } = this.#processor.next(!this.#more.traffic)
    const isOwn = samples.every(({ record_ids }) => record_ids.some((id) => this.#held.has(id)))
    if (isOwn && (samples.length > 0 || !ready)) return { samples, ready }
    throw new Error(`processor ${this.#processor.name} offers records that it does not hold; fix the recipe, then restart`)
  }

  async #readInstructions(): Promise<void> {
    const page = await this.#page('instructions', ['train'], this.#instructionsRead)
    this.#queue = [...this.#queue, ...page.map(instructionOf)]
    this.#instructionsRead = page.at(-1)?.sequence ?? this.#instructionsRead
  }

  async #readTraffic(): Promise<void> {
    const page = await this.#page('traffic', this.#processor.reads, this.#trafficRead)
    for (const record of page) this.#ingest(record)
  }

  /** The flag is cleared before the read, since an append meanwhile sets it again. Only an empty page leaves it cleared. */
  async #page(what: 'instructions' | 'traffic', types: readonly RequestType[], after: number): Promise<readonly PendingRecord[]> {
    this.#more[what] = false
    let isEnd = false
    try {
      const page = await this.#store.pending({ component: this.#component, types, after, limit: PENDING_PAGE_RECORDS_MAX })
      isEnd = page.length === 0
      return page
    } finally {
      if (!isEnd) this.#more[what] = true
    }
  }

  #ingest(record: PendingRecord): void {
    this.#trafficRead = record.sequence
    const reason = unusable(record) ?? this.#offer(record)
    if (reason === null) this.#held.set(record.agent_record_id, record.sequence)
    else this.#setAside(record.agent_record_id, reason)
  }

  /** A record that makes the processor throw is set aside. */
  #offer(record: PendingRecord): string | null {
    const failed = 'the processor failed over it'
    try {
      const reason: unknown = this.#processor.ingest(record)
      if (reason === null || typeof reason === 'string') return reason
      // Probably a promise: its rejection must not stay unhandled.
      Promise.resolve(reason).catch(() => undefined)
      return failed
    } catch {
      return failed
    }
  }

  #setAside(id: string, reason: string): void {
    this.#held.delete(id)
    this.#aside.add(id)
    const key = this.#asideCounts.has(reason) || this.#asideCounts.size < ASIDE_REASONS_MAX ? reason : 'other reasons'
    this.#asideCounts.set(key, (this.#asideCounts.get(key) ?? 0) + 1)
  }
}

/** Why no step can use the record, whatever its processor. */
function unusable({ payload, references, quoted, too_large }: PendingRecord): string | null {
  if (too_large) return 'it and what it quotes are too large together'
  if (payload === null) return 'its body was evicted'
  if (isMetadataOnly(payload)) return 'its words were not recorded'
  if (quoted.length < references.length || quoted.some((record) => record.payload === null)) return 'an exchange it quotes was evicted'
  if (quoted.some((record) => record.payload !== null && isMetadataOnly(record.payload)))
    return 'the words of an exchange it quotes were not recorded'
  return quoted.some((record) => record.consumed) ? 'an exchange it quotes was used by another report' : null
}

function instructionOf({ agent_record_id: id, payload }: PendingRecord): Instruction {
  const request = payload === null ? null : readTrain(id, payload)
  if (request !== null) return { request, problem: null }
  return { request: { id, text: '', session: '', release_id: '', requires: [] }, problem: 'the body of the instruction was evicted' }
}
