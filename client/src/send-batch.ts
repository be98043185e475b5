/** One batch to the service: sent again while the trouble may pass, given up with the service's own words when it will not. */
import { setTimeout as sleep } from 'node:timers/promises'
import { bodyOf } from './batches.ts'
import type { ImportBatch } from './batches.ts'
import { ImportFailure, ServiceFailure } from './failure.ts'
import { BATCH_ROUTE } from './names.ts'
import { ask, cureFor, field, isPassing, parseJson, problemOf, type ServiceResponse, type ServiceEndpoint } from './transport.ts'

export interface ImportTarget extends Omit<ServiceEndpoint, 'timeoutSeconds'> {
  readonly retries: number
  /** Called before each wait. */
  readonly onRetry: (problem: string, waitSeconds: number) => void
  readonly wait?: (seconds: number) => Promise<void>
  readonly timeoutSeconds?: number
}

const TIMEOUT_SECONDS = 60
const BACKOFF_SECONDS_MAX = 30
const RETRY_AFTER_SECONDS_MAX = 60

/** What the service said: it has all of them, not now, or never. */
type Outcome =
  | { readonly kind: 'stored' }
  | { readonly kind: 'later'; readonly problem: string; readonly waitSeconds: number | null }
  | { readonly kind: 'refused'; readonly problem: string }

/** Resolves once the service acknowledged every record. Ids never change, so sending again what was already stored is safe. */
export async function sendBatch(service: ImportTarget, batch: ImportBatch): Promise<void> {
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

async function post(service: ImportTarget, batch: ImportBatch): Promise<Outcome> {
  const place = { ...service, timeoutSeconds: service.timeoutSeconds ?? TIMEOUT_SECONDS }
  try {
    return judge(place, await ask(place, { method: 'POST', path: BATCH_ROUTE, body: bodyOf(batch) }), batch)
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error
    return { kind: 'later', problem: error.message, waitSeconds: null }
  }
}

function judge(place: ServiceEndpoint, answer: ServiceResponse, batch: ImportBatch): Outcome {
  if (answer.status === 200) {
    const complete = listsExactly(answer.text, batch)
    return complete ? { kind: 'stored' } : { kind: 'refused', problem: 'the answer does not list exactly the records that were sent' }
  }
  const problem = problemOf(place, answer)
  if (isPassing(answer.status)) return { kind: 'later', problem, waitSeconds: retryAfter(answer.headers.get('retry-after')) }
  return { kind: 'refused', problem: problem + (answer.status === 413 ? ' (lower --max-batch-bytes)' : cureFor(answer.status)) }
}

/** The receipts in the order sent, no more and no fewer: anything else is not the service this command knows. */
function listsExactly(text: string, batch: ImportBatch): boolean {
  const answer = parseJson(text)
  const receipts = field(answer, 'records')
  if (!Array.isArray(receipts) || receipts.length !== batch.lines.length) return false
  return batch.lines.every((line, index) => field(receipts[index], 'agent_record_id') === line.id)
}

/** Seconds or a date, as HTTP allows. */
function retryAfter(header: string | null): number | null {
  if (header === null) return null
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), RETRY_AFTER_SECONDS_MAX)
}

/** The line the service complains about, found by its position or its id in the message; else the lines of the whole batch. */
function placeOf(batch: ImportBatch, problem: string): string {
  const index = /records\[(\d{1,4})\]/.exec(problem)?.[1]
  const named = index === undefined ? batch.lines.find((line) => problem.includes(JSON.stringify(line.id))) : batch.lines[Number(index)]
  if (named !== undefined) return `line ${named.number}`
  const [first, last] = [batch.lines[0]?.number, batch.lines.at(-1)?.number]
  return first === last ? `line ${first}` : `lines ${first} to ${last}`
}
