/** One batch to the service: sent again while the trouble may pass, given up with the service's own words when it will not. */
import { setTimeout as sleep } from 'node:timers/promises'
import { bodyOf } from './batches.ts'
import type { Batch } from './batches.ts'
import { ImportFailure } from './failure.ts'
import { BATCH_ROUTE, SCENARIO_HEADER, TOKEN_VARIABLE } from './names.ts'

export interface Service {
  readonly url: string
  readonly scenario: string
  readonly token: string | null
  readonly retries: number
  /** Told before each wait. */
  readonly onRetry: (problem: string, waitSeconds: number) => void
  readonly wait?: (seconds: number) => Promise<void>
  readonly timeoutSeconds?: number
}

const TIMEOUT_SECONDS = 60
const BACKOFF_SECONDS_MAX = 30
const RETRY_AFTER_SECONDS_MAX = 60
const MESSAGE_CHARACTERS_MAX = 2000
const PASSING = new Set([408, 429, 500, 502, 503, 504])

/** What the service said: it has all of them, not now, or never. */
type Outcome =
  | { readonly kind: 'stored' }
  | { readonly kind: 'later'; readonly problem: string; readonly waitSeconds: number | null }
  | { readonly kind: 'refused'; readonly problem: string }

/** Resolves once the service acknowledged every record. Ids never change, so sending again what was already stored is safe. */
export async function sendBatch(service: Service, batch: Batch): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await post(service, batch)
    if (outcome.kind === 'stored') return
    if (outcome.kind === 'refused') throw new ImportFailure(`${placeOf(batch, outcome.problem)}: ${outcome.problem}`)
    if (attempt === service.retries)
      throw new ImportFailure(`${placeOf(batch, '')}: ${outcome.problem}; gave up after ${attempt + 1} attempts`)
    const seconds = outcome.waitSeconds ?? Math.min(2 ** attempt, BACKOFF_SECONDS_MAX)
    service.onRetry(outcome.problem, seconds)
    await (service.wait ?? pause)(seconds)
  }
}

const pause = (seconds: number): Promise<void> => sleep(seconds * 1000)

async function post(service: Service, batch: Batch): Promise<Outcome> {
  try {
    const response = await fetch(service.url + BATCH_ROUTE, {
      method: 'POST',
      headers: headersOf(service),
      body: bodyOf(batch),
      redirect: 'manual',
      signal: AbortSignal.timeout((service.timeoutSeconds ?? TIMEOUT_SECONDS) * 1000),
    })
    return judge(response, await response.text(), batch)
  } catch (error) {
    return { kind: 'later', problem: `the service cannot be reached (${reasonOf(error)})`, waitSeconds: null }
  }
}

/** A header is bytes; a name beyond ASCII goes as UTF-8. */
function headersOf(service: Service): Record<string, string> {
  return {
    'content-type': 'application/json',
    [SCENARIO_HEADER]: Buffer.from(service.scenario).toString('latin1'),
    ...(service.token === null ? {} : { authorization: `Bearer ${service.token}` }),
  }
}

function judge(response: Response, text: string, batch: Batch): Outcome {
  const { status } = response
  if (status === 200) {
    const complete = listsExactly(text, batch)
    return complete ? { kind: 'stored' } : { kind: 'refused', problem: 'the answer does not list exactly the records that were sent' }
  }
  const problem = `the service answered ${status}${messageIn(text)}${hintFor(status)}`
  if (!PASSING.has(status)) return { kind: 'refused', problem }
  return { kind: 'later', problem, waitSeconds: retryAfter(response.headers.get('retry-after')) }
}

/** The receipts in the order sent, no more and no fewer: anything else is not the service this command knows. */
function listsExactly(text: string, batch: Batch): boolean {
  const answer = parseJson(text)
  const receipts = field(answer, 'records')
  if (!Array.isArray(receipts) || receipts.length !== batch.lines.length) return false
  return batch.lines.every((line, index) => field(receipts[index], 'agent_record_id') === line.id)
}

function messageIn(text: string): string {
  const message = field(field(parseJson(text), 'error'), 'message')
  const words = typeof message === 'string' ? message : text.trim()
  return words === '' ? '' : `: ${words.slice(0, MESSAGE_CHARACTERS_MAX)}`
}

function hintFor(status: number): string {
  if (status === 401) return ` (set ${TOKEN_VARIABLE} to the service's token)`
  if (status === 413) return ' (lower --max-batch-bytes)'
  if (status >= 300 && status < 400) return ' (redirects are not followed; give --url the address itself)'
  return ''
}

/** Seconds or a date, as HTTP allows. */
function retryAfter(header: string | null): number | null {
  if (header === null) return null
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), RETRY_AFTER_SECONDS_MAX)
}

/** The line the service complains about, found by its position or its id in the message; else the lines of the whole batch. */
function placeOf(batch: Batch, problem: string): string {
  const index = /records\[(\d{1,4})\]/.exec(problem)?.[1]
  const named = index === undefined ? batch.lines.find((line) => problem.includes(JSON.stringify(line.id))) : batch.lines[Number(index)]
  if (named !== undefined) return `line ${named.number}`
  const [first, last] = [batch.lines[0]?.number, batch.lines.at(-1)?.number]
  return first === last ? `line ${first}` : `lines ${first} to ${last}`
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'no answer in time'
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined
}
