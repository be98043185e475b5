/** Reads Terminus's runs: one JSON document per run with the agent's steps and the verifier's result. */
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { isList, readDocuments } from '../../../src/harness/index.ts'

/** Per run the result, then the steps, in path order. */
export async function readRuns(folder: string): Promise<readonly JsonObject[]> {
  return (await readDocuments(folder)).flatMap(([path, run]) => eventsOf(path, run))
}

function eventsOf(path: string, run: Json): readonly JsonObject[] {
  const steps = isObject(run) ? run['steps'] : undefined
  if (!isObject(run) || !isList(steps) || !steps.every(isObject)) throw new Error(`the run ${path} has no list of steps`)
  const verdict = isObject(run['verifier']) ? run['verifier'] : {}
  return [{ ...verdict, type: 'verifier' }, ...steps.map((step) => ({ ...step, type: 'step' }))]
}
