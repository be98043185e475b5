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
/** The reason of a rejection, the comment of a move, and a comment alone. */
export const REVIEW_TEXT_CHARACTERS_MAX = 2000
/** Each is a row of the scenario. */
export const COMMENTS_PER_RELEASE_MAX = 100
/** A prompt or a rubric of a task that a person makes of a record. */
export const TASK_TEXT_CHARACTERS_MAX = 20_000
export const REQUIRES_ITEMS_MAX = 8
export const REQUIRES_PROMPT_CHARACTERS_MAX = 200
export const CLIENT_COMMANDS_MAX = 64
export const ACTIVITY_LINES_SHOWN_MAX = 80
/** Of a running step; its record has all. */
export const EPISODES_SHOWN_MAX = 40
export const RECORD_CAPACITY_BYTES_DEFAULT = 20 * GIB
export const S3_CACHE_BYTES_DEFAULT = 20 * GIB
/** An install script that takes longer is begun with a preamble. */
export const INSTALL_PREAMBLE_AFTER_SECONDS = 0.5

// ── the decisions' ───────────────────────────────────────────────────────────────────────────
export const SCENARIO_NAME_CHARACTERS_MAX = 200
export const ENTRY_NAME_CHARACTERS_MAX = 128
export const UPSTREAM_ERROR_CHARACTERS_MAX = 2000
export const INTERRUPTED_RETRY_FIRST_SECONDS = 0.05
export const INTERRUPTED_RETRY_MAX_SECONDS = 1

// ── our own ──────────────────────────────────────────────────────────────────────────────────
/** The least a preamble is: what curl and pipes hold back before they pass anything on. */
export const INSTALL_PREAMBLE_BYTES_MIN = 64 * KIB
/** Receipts that one report quotes: each is looked up. */
export const REPORT_REFERENCES_MAX = 100_000
/** A recipe reads so much of one report, to check it or to learn from it: it is parsed where requests are answered, and kept until its step. */
export const REPORT_READ_BYTES_MAX = 10 * MIB
/** A proposal printed as JSON, and room for white space and escapes around it. */
export const PROPOSAL_BYTES_MAX = MIB
export const PROPOSAL_BODY_BYTES_MAX = 2 * MIB
/** Every other route of our own that takes a body: train, scenarios, update, rollback, promote. */
export const SMALL_BODY_BYTES_MAX = 256 * KIB
/** A longer body is parsed and checked in a thread, so that no other request waits for it. */
export const INLINE_BODY_BYTES_MAX = 256 * KIB
/** The same for a body that is the provider's to judge: it is only scanned, which is many times faster. */
export const INLINE_LINE_BYTES_MAX = MIB
/** What bodies in flight may take together, each counted beyond what may be parsed inline, from its first byte to the end of its answer. */
export const BODIES_BYTES_MAX = 512 * MIB
/** Nesting of a JSON body on our own routes; walking deeper ones would overflow the stack. */
export const JSON_DEPTH_MAX = 256
/** Nesting of a body that is the provider's to judge. A body that may be parsed inline is too short to nest deeper. */
export const LINE_JSON_DEPTH_MAX = INLINE_BODY_BYTES_MAX / 2
export const TAGS_MAX = 64
export const TAG_VALUE_CHARACTERS_MAX = 1024
/** Of what was asked last, and of what was answered: what a search finds a record by, and what a list shows of it. */
export const SEARCHED_CHARACTERS_MAX = 4 * KIB
export const EXCERPT_CHARACTERS_MAX = 160
/** A question to the search. */
export const SEARCH_TEXT_CHARACTERS_MAX = 500
export const SEARCH_WORDS_MAX = 32
/** Exchanges of a session that one report may be about. */
export const SESSION_REFERENCES_MAX = 10_000
/** Tokens beside those of the configuration: every thread that accepts connections holds them all. */
export const TOKENS_MAX = 10_000
export const TOKEN_SCENARIOS_MAX = 100
/** Sign-ins of one person at once. A further one ends the oldest. */
export const SIGN_INS_MAX = 10
/** Wrong tokens of one address. Beyond them tokens that were not accepted before are judged slowly. */
export const WRONG_TOKENS_PER_MINUTE = 100
export const TOKEN_DAYS_MAX = 3650
/** The largest limit that a token can be given of anything. */
export const TOKEN_LIMIT_MAX = 1_000_000_000
/** All request headers together; Node answers 431 above it. */
export const HEADER_BYTES_MAX = 64 * KIB
/** What one answer may be, whole or streamed, unless configured otherwise: it is held in memory until it is stored. */
export const ANSWER_BYTES_DEFAULT = 64 * MIB
/** What an engine or a gateway may say at once beside that. */
export const UPSTREAM_ANSWER_BYTES_MAX = 256 * MIB
/** Names and values of an answer's headers together, and how many there may be: providers send some forty, in some kilobytes. */
export const UPSTREAM_HEADER_BYTES_MAX = 32 * KIB
export const UPSTREAM_HEADERS_MAX = 256
/** An error body of the upstream up to this size is relayed as it is; of a longer one, its message. */
export const UPSTREAM_ERROR_BYTES_MAX = 64 * KIB
/** One SSE frame of an upstream stream; a longer one is not a stream of this format. */
export const STREAM_FRAME_BYTES_MAX = 16 * MIB
export const SCENARIO_LOAD_RETRY_AFTER_SECONDS = 1
/** How long a stopping service lets answers in flight finish. */
export const SHUTDOWN_GRACE_SECONDS = 30
/** A client that sends its headers or body slower than this is let go (slowloris). */
export const HEADERS_TIMEOUT_SECONDS = 30
export const BODY_TIMEOUT_SECONDS = 300
/** A client that reads nothing of its answer for so long is let go. */
export const CLIENT_STALL_SECONDS = 300
/** A document beside the records: a model's settings, a proposal, a file of a step record. */
export const DOCUMENT_BYTES_MAX = 16 * MIB
/** Rows removed or bodies evicted per transaction, so that appends get their turn in between. */
export const HOUSEKEEPING_ROWS_PER_TURN = 256
/** Bodies that one read of pending records brings into memory, beyond the first record's. */
export const PENDING_PAGE_BYTES_MAX = 16 * MIB
export const PENDING_PAGE_RECORDS_MAX = 256
/** A record together with everything it quotes; what is larger cannot be learnt from. */
export const PENDING_RECORD_BYTES_MAX = 256 * MIB
/** The exchanges of one batch: it is held in memory and crosses to its trainer whole. A larger unit makes a batch of its own. */
export const BATCH_BYTES_MAX = 64 * MIB
/** A step on the same batch that failed this often is given up: the batch is set aside, and its scenario goes on with the next. */
export const STEP_FAILURES_MAX = 8
/** How long a trainer rests after its first failure in a row; four times as long after each further one, up to the second number. */
export const STEP_RETRY_FIRST_SECONDS = 1
export const STEP_RETRY_MAX_SECONDS = 900
/** How long a trainer rests at most before it looks again for an engine that is away. */
export const ENGINE_AWAY_RETRY_MAX_SECONDS = 30
/** How often in a row a result may be overtaken by other components before its trainer rests, and for how long. */
export const STEP_OVERTAKEN_MAX = 3
export const STEP_OVERTAKEN_REST_SECONDS = 60
/** A step that goes on so long after its abort is ended with its thread; in the weight lane it is left to itself. */
export const STEP_ABORT_GRACE_SECONDS = 1
/** What a step answers beside its content (metrics, state, requires) is kept in its row; each may print to so much JSON. */
export const STEP_PRINTED_BYTES_MAX = 16 * MIB
/** Phases and lines of a step together. Further lines are left out and counted; of further phases the latest is reported when the second is over. */
export const STEP_REPORTS_PER_SECOND_MAX = 50
/** What a trainer says to people, in a failure or in a line of its activity, is cut to this. */
export const STEP_TEXT_CHARACTERS_MAX = 2000
/** How long a recipe may take to have a new head ready, or to let go of a scenario, before others go on without it. */
export const LOAD_SECONDS_MAX = 60
/** The same of weights: an engine reads a large adapter from a disk. */
export const WEIGHTS_LOAD_SECONDS_MAX = 600
export const CLOSE_SECONDS_MAX = 10
/** How long a landing waits for its pointer; a remote that does not answer must not keep a release from being served. */
export const POINT_SECONDS_MAX = 5
/** How long the move of a head waits until the other gateways serve it: a poll each second tells those that missed the notification. */
export const MEMBERS_WAIT_MS_MAX = 2000
/** How long a recipe may take to bind a scenario. */
export const BIND_SECONDS_MAX = 60
/** Distinct reasons by which records that no step can use are counted; further ones are counted together. */
export const ASIDE_REASONS_MAX = 20
/** A tree of a harness: how many entries, how much its rendered files are together, and how much of it one proposal may change. */
export const TREE_ENTRIES_MAX = 512
export const TREE_BYTES_MAX = 4 * MIB
export const PROPOSAL_MUTATIONS_MAX = 64
/** An entry's text (rules, a command, a skill), its code, and everything else in its config, printed as JSON. */
export const ENTRY_TEXT_BYTES_MAX = 64 * KIB
export const ENTRY_CODE_BYTES_MAX = 256 * KIB
export const ENTRY_DATA_BYTES_MAX = 64 * KIB
/** Code that costs a parser more processor time than this is refused, however long that takes on a busy machine. */
export const CODE_CHECK_SECONDS_MAX = 1
/** A graph of the native agent, and what its agents may use. */
export const GRAPH_STAGES_MAX = 16
export const GRAPH_EDGES_MAX = 64
export const GRAPH_CASES_MAX = 8
export const NATIVE_STEPS_MAX = 32
export const NATIVE_TOOL_CALLS_MAX = 256
export const NATIVE_FOLLOWERS_MAX = 8
export const PATTERN_CHARACTERS_MAX = 200

/** How many decisions back a selection remembers what was selected. */
export const RECENT_DECISIONS = 50
