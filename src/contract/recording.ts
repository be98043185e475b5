/** How much of a record is stored, and who takes personal data out of it. */

/** From the most to the least. */
export const RECORDING_MODES = ['full', 'redacted', 'metadata', 'off'] as const
export type RecordingMode = (typeof RECORDING_MODES)[number]

/** A request may ask for less than its scenario stores, never for more. */
export const leastOf = (one: RecordingMode, other: RecordingMode): RecordingMode =>
  RECORDING_MODES.indexOf(one) > RECORDING_MODES.indexOf(other) ? one : other

/** Takes personal data out of what is stored. */
export interface Redactor {
  /**
   * For one record: answers a function that is given its texts in their order and answers each without personal data. The same record must
   * give the same words always, since a retry is compared with what was stored. Texts may be long and hostile: time in proportion to them.
   */
  open(): (text: string) => string
}

/** What the payload of a record without its words begins with. */
export const METADATA_MARK = '{"recording":"metadata"'
const METADATA_BYTES = Buffer.from(METADATA_MARK)

/** Whether no words of a record were ever stored: nothing can be trained on it or read of it. */
export const isMetadataOnly = (payload: Uint8Array): boolean =>
  payload.byteLength >= METADATA_BYTES.byteLength && Buffer.compare(METADATA_BYTES, payload.subarray(0, METADATA_BYTES.byteLength)) === 0
