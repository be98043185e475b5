/** What is stored of the records of each scenario. */
import { leastOf, unsupported, type NewRecord, type RecordingMode } from '../contract/index.ts'
import { withoutWords } from './metadata.ts'

export interface RecordingRules {
  readonly mode: RecordingMode
  /** Those that have a rule of their own, by name. */
  readonly scenarios: ReadonlyMap<string, { readonly mode: RecordingMode }>
}

export class Recorder {
  readonly #rules: RecordingRules

  constructor(rules: RecordingRules) {
    this.#rules = rules
  }

  modeOf(scenario: string): RecordingMode {
    return this.#rules.scenarios.get(scenario)?.mode ?? this.#rules.mode
  }

  /** The records as they are to be stored; the same ones where they are stored in full. Throws where nothing is. */
  admit(scenario: string, records: readonly NewRecord[]): readonly NewRecord[] {
    const mode = this.modeOf(scenario)
    if (mode === 'full' && records.every(({ recording }) => recording === undefined)) return records
    return records.map((record) => stored(record, leastOf(mode, record.recording ?? mode)))
  }
}

function stored(record: NewRecord, mode: RecordingMode): NewRecord {
  if (mode === 'off')
    throw unsupported(
      'recording_off',
      'nothing is recorded in this scenario (recording.mode is off), so nothing can be reported, imported or trained; record at least metadata, or use another scenario',
    )
  // An instruction without its words would instruct nobody.
  return mode === 'full' || record.request_type === 'train' ? record : withoutWords(record)
}
