/** What is stored of the records of each scenario. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { unsupported, type JsonObject, type NewRecord, type RecordingMode } from '../contract/index.ts'
import { withoutWords } from './metadata.ts'
import { payloadOf, withPayload } from './payload.ts'
import type { Redaction } from './redaction.ts'

export interface RecordingRules {
  readonly mode: RecordingMode
  /** Those that have a rule of their own, by name. */
  readonly scenarios: ReadonlyMap<string, { readonly mode: RecordingMode }>
}

export class Recorder {
  #rules: RecordingRules
  readonly #redaction: Redaction

  constructor(rules: RecordingRules, redaction: Redaction) {
    this.#rules = rules
    this.#redaction = redaction
  }

  /** Loads the redactor where the configuration needs one, so that one that cannot be loaded ends the start. */
  open(): Promise<void> {
    return this.prepare(this.#rules)
  }

  async prepare({ mode, scenarios }: RecordingRules): Promise<void> {
    if ([mode, ...[...scenarios.values()].map((own) => own.mode)].some((each) => each !== 'full')) await this.#redaction.load()
  }

  /** Rules that were prepared. Calls under way end with the mode they began with. */
  use(rules: RecordingRules): void {
    this.#rules = rules
  }

  modeOf(scenario: string): RecordingMode {
    return this.#rules.scenarios.get(scenario)?.mode ?? this.#rules.mode
  }

  /** The records as they are to be stored; the same ones where they are stored in full. Throws where nothing is. */
  admit(scenario: string, records: readonly NewRecord[]): readonly NewRecord[] | Promise<readonly NewRecord[]> {
    const mode = this.modeOf(scenario)
    if (records.every(({ recording = mode }) => recording === 'full')) return records
    return this.#allStored(records, mode)
  }

  /** A body that is kept as a file, such as a proposal. */
  async keptBody(scenario: string, body: JsonObject): Promise<JsonObject> {
    return this.modeOf(scenario) === 'full' ? body : this.#redaction.object(body)
  }

  /** Words that others chose and that may repeat what was said to them, for the log and the row; null where none are kept. */
  async loggedWords(mode: RecordingMode, words: string): Promise<string | null> {
    if (mode === 'full') return words
    return mode === 'redacted' ? this.#redaction.words(words).catch(() => null) : null
  }

  close(): Promise<void> {
    return this.#redaction.close()
  }

  /** One after the other, so that a batch of many short ones does not hold up everything else. */
  async #allStored(records: readonly NewRecord[], mode: RecordingMode): Promise<readonly NewRecord[]> {
    const stored: NewRecord[] = []
    for (const record of records) {
      if (stored.length > 0) await nextTurn()
      stored.push(await this.#stored(record, record.recording ?? mode))
    }
    return stored
  }

  async #stored(record: NewRecord, mode: RecordingMode): Promise<NewRecord> {
    if (mode === 'full') return record
    if (mode === 'off') throw recordingOff()
    // An instruction without its words would instruct nobody.
    const isBare = mode === 'metadata' && record.request_type !== 'train'
    const stored = isBare
      ? withoutWords(record)
      : withPayload(record, await this.#redaction.payload(payloadOf(record), record.summary?.complete === false))
    const { summary } = stored
    // An answer may give its model any name.
    return summary?.model === undefined ? stored : { ...stored, summary: { ...summary, model: await this.#redaction.words(summary.model) } }
  }
}

const recordingOff = (): Error =>
  unsupported(
    'recording_off',
    'nothing is recorded (recording.mode of the scenario, or the header of this request, is off), so nothing can be reported, imported or trained; record at least metadata, or use another scenario',
  )
