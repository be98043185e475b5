/** Every number that bounds the native agent, with its unit in its name. */

const KIB = 1024
const MIB = 1024 * KIB

// ── one turn ─────────────────────────────────────────────────────────────────────────────────
export const STEPS_DEFAULT = 12
/** A graph or an agent cannot ask for more. */
export const STEPS_MAX = 32
export const TOOL_CALLS_MAX = 256
/** Stages entered for each step a turn may take: a graph that goes on without asking the model is ended. */
export const STAGES_PER_STEP_MAX = 16
/** Agents that ask agents. Trees are refused when one would come back to itself; one edited by hand may not be. */
export const AGENT_DEPTH_MAX = 8

// ── the model ────────────────────────────────────────────────────────────────────────────────
export const ANSWER_TOKENS_MAX = 4096
export const ATTEMPTS_MAX = 4
export const RETRY_WAIT_SECONDS_MAX = 10
export const ANSWER_SECONDS_MAX = 300
export const ANSWER_BYTES_MAX = 8 * MIB
export const CONTEXT_TOKENS_DEFAULT = 32_768
/** Near enough to decide when a conversation is too long. */
export const CHARACTERS_PER_TOKEN = 4

// ── what the tree's code may take ────────────────────────────────────────────────────────────
export const TOOL_SECONDS_MAX = 300
export const HOOK_SECONDS_MAX = 10
/** How long a loop may compute between two questions. */
export const LOOP_SECONDS_MAX = 60
/** One line of what a module answers. */
export const MODULE_LINE_BYTES_MAX = 16 * MIB
export const RESULT_CHARACTERS_MAX = 20_000
export const RESULT_TAIL_CHARACTERS = 2000
export const STDERR_CHARACTERS_KEPT = 2000
export const PATTERN_SECONDS_MAX = 1
export const BRANCH_TEXT_CHARACTERS = 4096

// ── the resident agent ───────────────────────────────────────────────────────────────────────
export const POLL_SECONDS_DEFAULT = 60
export const POLL_SECONDS_MAX = 600
export const TURN_SECONDS_DEFAULT = 600
/** Sockets cannot have longer names everywhere. */
export const SOCKET_PATH_BYTES_MAX = 100
export const REQUEST_BYTES_MAX = 4 * MIB
export const REQUEST_SECONDS_MAX = 10
/** Conversations kept at once; the one not used for longest is forgotten. */
export const SESSIONS_MAX = 64
