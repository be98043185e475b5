/** Calls of the service's public routes. */
import { setTimeout as sleep } from 'node:timers/promises'
import { HEADER, ROUTE_PREFIX, type Files, type JsonObject } from '../contract/index.ts'
import { objectOf, objectsOf, textOf } from '../dialects/index.ts'

export interface ServiceAddress {
  readonly url: string
  readonly token: string | null
  readonly signal: AbortSignal
}

export interface ServiceQuestion {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
  /** Refusal codes that are valid answers. */
  readonly expected?: readonly string[]
}

const ANSWER_MILLISECONDS_MAX = 60_000

/** An unexpected refusal is thrown with the service's message. */
export async function call({ url, token, signal }: ServiceAddress, path: string, question: ServiceQuestion = {}) {
  const { headers = {}, body, expected = [] } = question
  const response = await fetch(`${url}${path}`, {
    headers: { ...headers, ...(token !== null && { authorization: `Bearer ${token}` }) },
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MILLISECONDS_MAX)]),
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  const answered = objectOf(JSON.parse(await response.text()))
  const receipt = response.headers.get(HEADER.receipt) ?? ''
  if (response.ok) return { receipt, body: answered, refused: '' }
  const { code, message } = objectOf(answered['error'])
  const refused = textOf(code)
  if (expected.includes(refused)) return { receipt, body: answered, refused }
  throw new Error(textOf(message) || `the service answered ${response.status}`)
}

/** The scenario that a run improves. */
const SCENARIO = 'improve'
const AT = `${ROUTE_PREFIX}/scenarios/${SCENARIO}`
const HEADERS = { [HEADER.scenario]: SCENARIO }
const LOOK_AGAIN_MILLISECONDS = 300

/** Where the scenario's agents reach the model. */
export const evaluationPath = `${AT}/evaluation`

export async function createScenario(service: ServiceAddress): Promise<void> {
  await call(service, `${ROUTE_PREFIX}/scenarios`, { body: { name: SCENARIO } })
}

export async function servedFiles(service: ServiceAddress): Promise<Files> {
  const { body } = await call(service, `${ROUTE_PREFIX}/harness`, { headers: HEADERS })
  return Object.fromEntries(Object.entries(objectOf(body['files'])).map(([path, text]) => [path, textOf(text)]))
}

export interface TaskReport {
  readonly id: string
  readonly prompt: string
  readonly answer: string
  readonly score: number
  readonly feedback: string
}

/** Stored once, however often it is sent: the ids are the run's own. */
export async function sendReport(service: ServiceAddress, { id, prompt, answer, score, feedback }: TaskReport): Promise<void> {
  const response = { choices: [{ index: 0, message: { role: 'assistant', content: answer } }] }
  const payload = { messages: [{ role: 'user', content: prompt }], response }
  const record = { agent_record_id: `${id}-episode`, request_type: 'inference', payload }
  const expected = ['record_conflict']
  await call(service, `${ROUTE_PREFIX}/records`, { headers: HEADERS, body: record, expected })
  const report = { agent_record_id: id, score, feedback, references: [record.agent_record_id] }
  await call(service, `${ROUTE_PREFIX}/report`, { headers: HEADERS, body: report, expected })
}

/** A row of a step, as the service lists it. */
export interface ServedRow {
  readonly step: number
  readonly operation: string
  readonly result: string
  readonly metrics: JsonObject
}

export async function readRows(service: ServiceAddress): Promise<readonly ServedRow[]> {
  const { body } = await call(service, `${AT}/releases`)
  return objectsOf(body['releases']).map(({ step, operation, result, metrics }) => ({
    step: typeof step === 'number' ? step : 0,
    operation: textOf(operation),
    result: textOf(result),
    metrics: objectOf(metrics),
  }))
}

/** A step that failed so often is not waited for: its cause is outside, and the run goes on where it stopped. */
const FAILURES_MAX = 3

/** The row that used the report. `look` is called while there is none. Throws what the step failed of. */
export async function settledBy(service: ServiceAddress, id: string, after: number, look: () => Promise<void>): Promise<ServedRow> {
  for (;;) {
    const { body } = await call(service, `${AT}/commits?record_id=${encodeURIComponent(id)}`)
    const [step] = objectsOf(body['commits']).map((commit) => commit['step'])
    const rows = await readRows(service)
    const row = rows.find((each) => each.step === step)
    if (row !== undefined) return row
    const failed = rows.filter((each) => each.step > after && each.result === 'failed')
    if (failed.length >= FAILURES_MAX) throw new Error(`the step failed ${failed.length} times: ${reasonOf(failed[0])}`)
    await look()
    await sleep(LOOK_AGAIN_MILLISECONDS, undefined, { signal: service.signal })
  }
}

/** Why steps cannot go on now, in the service's words; empty where they can. */
export async function troubleOf(service: ServiceAddress): Promise<string> {
  const { body } = await call(service, `${ROUTE_PREFIX}/status`)
  return textOf(body['error'])
}

/** Why a step ended as it did, in the service's words. */
export function reasonOf(row: ServedRow | undefined): string {
  const metrics = row?.metrics ?? {}
  const said = [
    objectOf(metrics['selection'])['reason'],
    metrics['error'],
    objectOf(metrics['proposal_notes'])['failure'],
    metrics['skipped'],
  ].map(textOf)
  const held = textOf(metrics['held_because'])
  const reason = said.find((text) => text !== '') ?? 'no reason is given'
  return held === '' ? reason : `${reason}; held for review: ${held}`
}
