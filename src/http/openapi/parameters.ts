/** Parameters of paths, queries and headers, and the headers of answers. */
import { z } from 'zod'
import {
  HEADER,
  PAGE_ROWS_DEFAULT,
  PAGE_ROWS_MAX,
  RECORD_ID_CHARACTERS_MAX,
  RECORDING_MODES,
  RELEASE_TAG,
  SCENARIO_NAME_CHARACTERS_MAX,
  TAG_VALUE_CHARACTERS_MAX,
  TAGS_MAX,
} from '../../contract/index.ts'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description: string
  readonly required: boolean
  readonly schema: z.ZodType
}

/** Those of any path, by the name that the table of routes has for them. */
export const PATH_PARAMETERS: Readonly<Record<string, Parameter>> = {
  scenario: inPath('scenario', 'The name of the scenario.'),
  model: inPath('model', 'The name of the model.'),
  component: inPath('component', 'The name of a component of the release that is served.'),
  record_id: inPath('record_id', 'The id of a record: a receipt, or the id that it was sent with.'),
  lease: inPath('lease', 'The lease of an episode, as it was taken.'),
  task: inPath('task', 'The name of a task.'),
  token_name: inPath('token_name', 'The name of a token.'),
  step: inPath('step', 'The place in GET /svc/harness/releases, oldest first, from 0.', z.string().regex(/^\d{1,9}$/)),
}

function inPath(name: string, description: string, schema: z.ZodType = z.string().min(1)): Parameter {
  return { name, in: 'path', description, required: true, schema }
}

export const query = (name: string, description: string, schema: z.ZodType = z.string()): Parameter => ({
  name,
  in: 'query',
  description,
  required: false,
  schema,
})
export const required = (parameter: Parameter): Parameter => ({ ...parameter, required: true })

const header = (name: string, description: string, schema: z.ZodType = z.string()): Parameter => ({
  name,
  in: 'header',
  description,
  required: false,
  schema,
})

export const optionalScenario = header(
  HEADER.scenario,
  `The scenario: 1 to ${SCENARIO_NAME_CHARACTERS_MAX} characters once trimmed, in UTF-8, no control characters and no slash.`,
)
export const scenario = required(optionalScenario)
export const startingRelease = header(
  HEADER.release,
  'The release that a new scenario starts from; on an existing one, the one it started from.',
)
export const chosenReceipt = header(
  HEADER.receipt,
  'The receipt, chosen by the client, for one that cannot read it from the answer. Must be new in the scenario.',
  z.string().max(RECORD_ID_CHARACTERS_MAX),
)
export const provisional = header(
  HEADER.provisional,
  'yes: the provisional release, which is unproven, where there is one. no: never. Left out: the lot of the session decides.',
  z.enum(['yes', 'no']),
)
export const recording = header(
  HEADER.recording,
  'To store less of this request than its scenario does. A mode that stores more changes nothing.',
  z.enum(RECORDING_MODES),
)
export const tags = header(
  `${HEADER.tagPrefix}${RELEASE_TAG}`,
  `A tag, kept with the record; so is every other header ${HEADER.tagPrefix}<name>, up to ${TAGS_MAX} of them. This one names the harness release that the client runs.`,
  z.string().max(TAG_VALUE_CHARACTERS_MAX),
)

const position = z.int().nonnegative()
export const after = (name: string, what: string): Parameter => query(name, `Only ${what} after this one.`, position.default(0))
/** Without a default: what comes after nothing is everything. */
export const afterRow = query('after_step', 'Only rows after this one.', position)
export const before = (name: string, what: string): Parameter => query(name, `Only ${what} before this one.`, position)
export const order = query('order', 'Which come first.', z.enum(['oldest', 'newest']).default('oldest'))
export const limit = query('limit', 'How many at most.', z.int().min(1).max(PAGE_ROWS_MAX).default(PAGE_ROWS_DEFAULT))
export const release = query('release_id', 'Any release of the catalog, also one that waits for review; left out, the one that is served.')

/** The pages alone take these in place of headers. */
export const pageScenario = query('scenario', `The scenario, in place of ${HEADER.scenario}.`)

export const RESPONSE_HEADERS = {
  [HEADER.requestId]: 'The id of the request, as the log has it; or that of the upstream, where its answer carries one.',
  [HEADER.receipt]: 'The receipt of the stored exchange. It is on the disk by then. A stream carries it in its last event instead.',
  [HEADER.release]: 'The release that this client would pull now, where the scenario serves a harness.',
  [HEADER.provisional]: 'yes: that release is provisional, which is unproven. Absent on every other answer.',
  [HEADER.recording]: 'How much of the exchange is stored, where that is not all of it. off: nothing, and there is no receipt.',
  'cache-control': 'no-store',
  'retry-after': 'Seconds after which to ask again, where that would help.',
  'x-should-retry': 'false: it does not go away by itself.',
  [HEADER.upstreamStatus]: 'What the upstream answered with, where that is another status.',
  allow: 'The methods that the path answers to.',
} as const
export type ResponseHeader = keyof typeof RESPONSE_HEADERS
