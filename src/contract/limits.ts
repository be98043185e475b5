/** Every number that bounds something, with its unit in its name. Values of the interface first, our own after. */

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB

// ── the interface's ──────────────────────────────────────────────────────────────────────────
export const BODY_BYTES_MAX = 64 * MIB
export const IMPORT_BODY_BYTES_MAX = 10 * MIB
export const IMPORT_BATCH_RECORDS_MAX = 1000
export const PAGE_ROWS_DEFAULT = 50
export const PAGE_ROWS_MAX = 100
export const COMMIT_FILTER_IDS_MAX = 100
export const RECORD_ID_CHARACTERS_MAX = 256
export const TRAIN_TEXT_CHARACTERS_MAX = 4000
export const REQUIRES_ITEMS_MAX = 8
export const REQUIRES_PROMPT_CHARACTERS_MAX = 200
export const CLIENT_COMMANDS_MAX = 64
export const RECORD_CAPACITY_BYTES_DEFAULT = 20 * GIB

// ── the decisions' ───────────────────────────────────────────────────────────────────────────
export const SCENARIO_NAME_CHARACTERS_MAX = 200
export const ENTRY_NAME_CHARACTERS_MAX = 128
export const UPSTREAM_ERROR_CHARACTERS_MAX = 2000
export const INTERRUPTED_RETRY_FIRST_SECONDS = 0.05
export const INTERRUPTED_RETRY_MAX_SECONDS = 1

// ── our own ──────────────────────────────────────────────────────────────────────────────────
/** A report quotes the receipts of one trajectory; more than this is a mistake, not a trajectory. */
export const REPORT_REFERENCES_MAX = 1000
/** Nesting of a JSON body on our own routes; deeper ones would overflow whoever walks them. */
export const JSON_DEPTH_MAX = 256
export const TAGS_MAX = 64
export const TAG_VALUE_CHARACTERS_MAX = 1024
/** All request headers together; Node answers 431 above it. */
export const HEADER_BYTES_MAX = 64 * KIB
/** An answer of the upstream that is not a stream is held in memory until it is stored. */
export const UPSTREAM_ANSWER_BYTES_MAX = 256 * MIB
/** One SSE frame of an upstream stream; a longer one is not a stream of this format. */
export const STREAM_FRAME_BYTES_MAX = 16 * MIB
export const SCENARIO_LOAD_RETRY_AFTER_SECONDS = 1
/** How long a stopping service lets answers in flight finish. */
export const SHUTDOWN_GRACE_SECONDS = 30
/** A client that sends its headers or body slower than this is let go (slowloris). */
export const HEADERS_TIMEOUT_SECONDS = 30
export const BODY_TIMEOUT_SECONDS = 300
/** A client that reads nothing of its stream for so long is let go. */
export const CLIENT_STALL_SECONDS = 300
/** Rows removed or bodies evicted per transaction, so that appends get their turn in between. */
export const HOUSEKEEPING_ROWS_PER_TURN = 256
