/** Helpers of the spec tests. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { isObject, type JsonObject } from '../../../src/contract/index.ts'
import type { Answer, World } from '../../support/world.ts'

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures')
export const OPEN_RECIPE = join(FIXTURES, 'open-recipe.ts')
export const INBOX_RECIPE = join(FIXTURES, 'inbox-harness.ts')
export const SLOW_RECIPE = join(FIXTURES, 'slow-harness.ts')
export const LEDGER_RECIPE = join(FIXTURES, 'training', 'ledger.ts')
export const PAIR_RECIPE = join(FIXTURES, 'training', 'pair.ts')
export const GATED_STORE = join(FIXTURES, 'training', 'gated-store.ts')

export const named = (scenario: string): Record<string, string> => ({ 'x-svc-scenario': scenario })

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

/** The `error` object of an answer, whichever shape it has. */
export function errorOf({ json }: Answer): JsonObject {
  const { error } = json
  return isObject(error) ? error : {}
}

/** A file path, a stack line, or an internal module. */
const LEAK = /\/(?:work|home|tmp|usr|var|root)\/|\bat \w+.*:\d+:\d+|node_modules|\.ts\b/

/** Status, shape, request id, retry advice, and a message without internals. A code of null: in the shape of the messages routes. */
export function expectRefusal(answer: Answer, status: number, code: string | null, message: RegExp | string = /.{11}/s): void {
  const error = errorOf(answer)
  expect({ status: answer.status, code: error['code'] ?? null, text: answer.text }).toMatchObject({ status, code })
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/)
  expect(answer.headers['content-type']).toBe('application/json')
  expect(Object.keys(answer.json)).toEqual(code === null ? ['type', 'error'] : ['error'])
  expect(Object.keys(error).sort()).toEqual(code === null ? ['message', 'type'] : ['code', 'message', 'type'])
  expect(error['type']).toMatch(/^[a-z_]+$/)
  expect(error['message']).toMatch(message)
  expect(answer.text).not.toMatch(LEAK)
  expect(answer.headers['x-should-retry']).toBe(status === 409 ? 'false' : undefined)
}

/** An envelope of a minimal inference. */
export const inference = (id: string, more: JsonObject = {}): JsonObject => ({
  agent_record_id: id,
  request_type: 'inference',
  payload: { model: 'm', messages: [], response: { id }, ...more },
})

export const reportEnvelope = (id: string, payload: JsonObject): JsonObject => ({ agent_record_id: id, request_type: 'report', payload })

export async function importInference(here: World, scenario: string, id: string, more: JsonObject = {}): Promise<string> {
  const answer = await here.post('/svc/records', inference(id, more), named(scenario))
  if (answer.status !== 200) throw new Error(`the import of ${id} answered ${answer.status}: ${answer.text}`)
  return id
}

/** A text field; throws otherwise. */
export function textAt(json: JsonObject, key: string): string {
  const value = json[key]
  if (typeof value !== 'string') throw new Error(`${key} is not text in ${JSON.stringify(json)}`)
  return value
}

/** The rows a list route answers with under that name. */
export function rowsOf({ json }: Pick<Answer, 'json'>, name: string): readonly JsonObject[] {
  const rows = json[name]
  return Array.isArray(rows) ? rows.filter(isObject) : []
}

export async function recordIds(here: World, scenario: string): Promise<readonly string[]> {
  const answer = await here.get(`/svc/scenarios/${encodeURIComponent(scenario)}/records?limit=100`)
  return rowsOf(answer, 'records').map((row) => textAt(row, 'agent_record_id'))
}

export async function scenarioNames(here: World, headers: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  return rowsOf(await here.get('/svc/scenarios', headers), 'scenarios').map((row) => textAt(row, 'scenario'))
}

/** The evaluation routes and token that the open recipe got for that scenario. */
export function handedEvaluation({ directory }: World, scenario: string): { url: string; apiKey: string } {
  const files = globSync(join(directory, 'records', 'scenarios', '*', 'evaluation.json'))
  const handed = files.map((file): { url: string; apiKey: string } => JSON.parse(readFileSync(file, 'utf8')))
  const found = handed.find(({ url }) => url.endsWith(`/svc/scenarios/${encodeURIComponent(scenario)}/evaluation`))
  if (found === undefined) throw new Error(`the recipe of ${scenario} was not bound`)
  return found
}
