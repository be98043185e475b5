/** Helpers of the spec tests. */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, type JsonObject } from '../../../src/contract/index.ts'
import type { Answer, World } from '../../support/world.ts'

export const OPEN_RECIPE = join(import.meta.dirname, '..', '..', 'fixtures', 'open-recipe.ts')

export const named = (scenario: string): Record<string, string> => ({ 'x-svc-scenario': scenario })

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

/** The `error` object of an answer, whichever shape it has. */
export function errorOf({ json }: Answer): JsonObject {
  const { error } = json
  return isObject(error) ? error : {}
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
export async function handedEvaluation({ directory }: World, scenario: string): Promise<{ url: string; apiKey: string }> {
  const files = globSync(join(directory, 'records', 'scenarios', '*', 'evaluation.json'))
  const handed = await Promise.all(files.map(readEvaluation))
  const found = handed.find(({ url }) => url.endsWith(`/svc/scenarios/${encodeURIComponent(scenario)}/evaluation`))
  if (found === undefined) throw new Error(`the recipe of ${scenario} was not bound`)
  return found
}

async function readEvaluation(file: string): Promise<{ url: string; apiKey: string }> {
  const evaluation: { url: string; apiKey: string } = JSON.parse(await readFile(file, 'utf8'))
  return evaluation
}
