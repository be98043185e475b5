/** How much of a record is stored. */

/** From the most to the least. */
export const RECORDING_MODES = ['full', 'metadata', 'off'] as const
export type RecordingMode = (typeof RECORDING_MODES)[number]

/** A request may ask for less than its scenario stores, never for more. */
export const leastOf = (one: RecordingMode, other: RecordingMode): RecordingMode =>
  RECORDING_MODES.indexOf(one) > RECORDING_MODES.indexOf(other) ? one : other

/** What the payload of a record without its words begins with. */
export const METADATA_MARK = '{"recording":"metadata"'
const METADATA_BYTES = Buffer.from(METADATA_MARK)

/** Whether no words of a record were ever stored: nothing can be trained on it or read of it. */
export const isMetadataOnly = (payload: Uint8Array): boolean =>
  payload.byteLength >= METADATA_BYTES.byteLength && Buffer.compare(METADATA_BYTES, payload.subarray(0, METADATA_BYTES.byteLength)) === 0
