/** What a request says about itself in its headers, path and query: scenario, starting release, receipt, tags, page of a list. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import {
  HEADER,
  invalid,
  PAGE_ROWS_DEFAULT,
  PAGE_ROWS_MAX,
  RECORD_ID_CHARACTERS_MAX,
  RECORDING_MODES,
  TAG_VALUE_CHARACTERS_MAX,
  TAGS_MAX,
  unknown,
  type RecordingMode,
} from '../contract/index.ts'
import type { Tags } from '../inference/index.ts'
import { countCodePoints, isAscii } from '../kit/index.ts'
import { scenarioName } from '../scenarios/index.ts'

const NO_TAGS: Tags = {}

/** The scenario the request is for. A missing or empty header is a refusal on every route that needs one. */
export function scenarioOf(request: IncomingMessage): string {
  const value = headerText(request, HEADER.scenario)
  if (value === null) throw invalid('scenario_missing', `${HEADER.scenario}: name the scenario this request belongs to`)
  return scenarioName(value, HEADER.scenario)
}

/** The two pages alone take the scenario from the query too: a page key names it there. */
export function pageScenario({ query, request }: { readonly query: URLSearchParams; readonly request: IncomingMessage }): string {
  const named = query.get('scenario')?.trim() ?? ''
  if (request.headers[HEADER.scenario] === undefined && named !== '') return named
  return scenarioOf(request)
}

interface NamedScenario {
  readonly params: Readonly<Record<string, string>>
  readonly logFields: { scenario?: string }
}

/** The scenario that a path names. A text that cannot be a name is an unknown scenario, not a malformed request. */
export function nameInPath({ params, logFields }: NamedScenario): string {
  try {
    const name = scenarioName(params['scenario'] ?? '', 'the path')
    logFields.scenario = name
    return name
  } catch {
    throw unknown('unknown_scenario', 'the path names no scenario; GET /svc/scenarios lists them')
  }
}

/** A header's trimmed value; null when it is absent or empty. Given twice it would name two things, so it is refused. */
export function headerText(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name]
  if (typeof value !== 'string' || value.trim() === '') return null
  if (value.includes(', ') && (request.headersDistinct[name]?.length ?? 1) > 1) throw invalid('repeated_header', `${name}: send it once`)
  return decodeHeader(value.trim())
}

/** The receipt that the client chose for its exchange, since it cannot read one from the answer; null when it chose none. */
export function chosenReceipt(request: IncomingMessage): string | null {
  const id = headerText(request, HEADER.receipt)
  if (id !== null && countCodePoints(id) > RECORD_ID_CHARACTERS_MAX)
    throw invalid('invalid_field', `${HEADER.receipt}: holds at most ${RECORD_ID_CHARACTERS_MAX} characters`)
  return id
}

/** What the client says of unproven releases; null when it says nothing. */
export function takesProvisional(request: IncomingMessage): boolean | null {
  const value = headerText(request, HEADER.provisional)
  if (value === null || value === 'yes' || value === 'no') return value === null ? null : value === 'yes'
  throw invalid('invalid_field', `${HEADER.provisional}: must be 'yes' or 'no'`)
}

/** What the client asks to be stored of its exchange, in place of the scenario's mode; null when it says nothing. */
export function askedRecording(request: IncomingMessage): RecordingMode | null {
  const value = headerText(request, HEADER.recording)
  const mode = RECORDING_MODES.find((each) => each === value)
  if (value === null || mode !== undefined) return mode ?? null
  throw invalid('invalid_field', `${HEADER.recording}: must be one of ${RECORDING_MODES.join(', ')}`)
}

/** `x-svc-tag-<name>` headers by name. */
export function tagsOf(headers: IncomingHttpHeaders): Tags {
  let tags: Record<string, string> | null = null
  for (const name in headers) {
    if (!name.startsWith(HEADER.tagPrefix) || name.length === HEADER.tagPrefix.length) continue
    const value = decodeHeader(String(headers[name] ?? '').trim())
    if (value === '') continue
    if (countCodePoints(value) > TAG_VALUE_CHARACTERS_MAX)
      throw invalid('tag_too_long', `${name}: holds at most ${TAG_VALUE_CHARACTERS_MAX} characters`)
    tags ??= emptyTags()
    tags[name.slice(HEADER.tagPrefix.length)] = value
  }
  if (tags === null) return NO_TAGS
  if (Object.keys(tags).length > TAGS_MAX) throw invalid('too_many_tags', `${HEADER.tagPrefix}*: at most ${TAGS_MAX} tags on one request`)
  return tags
}

/** Without a prototype, so that every name a header can have is a name like any other. */
function emptyTags(): Record<string, string> {
  const tags: Record<string, string> = Object.create(null)
  return tags
}

/** The client's headers that mean something to a provider. No other header is forwarded, credentials least of all. */
const FORWARDED = [
  'anthropic-version',
  'anthropic-beta',
  'openai-organization',
  'openai-project',
  'openai-beta',
  'idempotency-key',
  'user-agent',
] as const

export function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const forwarded: Record<string, string> = {}
  for (const name of FORWARDED) {
    const value = headers[name]
    if (typeof value === 'string') forwarded[name] = value
  }
  return forwarded
}

/** Node reads headers as Latin-1; names outside ASCII were sent as UTF-8. */
export function decodeHeader(value: string): string {
  if (isAscii(value)) return value
  const decoded = Buffer.from(value, 'latin1').toString('utf8')
  return decoded.includes('\ufffd') ? value : decoded
}

/** And back: a receipt that a client chose may hold any character. */
export function encodeHeader(value: string): string {
  return Buffer.from(value).toString('latin1')
}

export function wholeNumber(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name)
  if (text === null) return fallback
  const value = Number(text)
  if (!/^\d{1,15}$/.test(text)) throw invalid('invalid_query', `${name}: must be a whole number from 0`)
  return value
}

export const REQUEST_TYPES = ['inference', 'report', 'train'] as const

/** Null where the query does not say. */
export function oneOf<Word extends string>(query: URLSearchParams, name: string, words: readonly Word[]): Word | null {
  const text = query.get(name)
  if (text === null) return null
  const word = words.find((each) => each === text)
  if (word !== undefined) return word
  const quoted = words.map((each) => `'${each}'`)
  throw invalid('invalid_query', `${name}: must be ${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`)
}

export function pageLimit(query: URLSearchParams): number {
  const limit = wholeNumber(query, 'limit', PAGE_ROWS_DEFAULT)
  if (limit < 1 || limit > PAGE_ROWS_MAX) throw invalid('invalid_query', `limit: must be from 1 to ${PAGE_ROWS_MAX}`)
  return limit
}

/** Where a page of rows begins that have a sequence, and which way it goes. */
export function pageStart(query: URLSearchParams): { readonly after: number } | { readonly before: number } {
  const order = oneOf(query, 'order', ['oldest', 'newest']) ?? 'oldest'
  const [own, other] = order === 'oldest' ? ['after_sequence', 'before_sequence'] : ['before_sequence', 'after_sequence']
  if (query.has(other)) throw invalid('invalid_query', `${other}: does not go with the order ${order}; send ${own}`)
  const from = wholeNumber(query, own, order === 'oldest' ? 0 : Number.MAX_SAFE_INTEGER)
  return order === 'oldest' ? { after: from } : { before: from }
}

/** Takes one row more than the limit, so as to know whether there is a next page. */
export function cutPage<T>(rows: readonly T[], limit: number, positionOf: (row: T) => number): { rows: readonly T[]; next: number | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, next: rows.length > limit && last !== undefined ? positionOf(last) : null }
}
