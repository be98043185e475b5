/** What Terminus left of its runs: per run one JSON document with the steps of the agent and what the verifier said of them. */
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { isList, readDocuments } from '../../../src/harness/index.ts'

/** Per run the verdict first, then every step, in the order of their paths. */
export async function readRuns(folder: string): Promise<readonly JsonObject[]> {
  return (await readDocuments(folder)).flatMap(([path, run]) => eventsOf(path, run))
}

function eventsOf(path: string, run: Json): readonly JsonObject[] {
  const steps = isObject(run) ? run['steps'] : undefined
  if (!isObject(run) || !isList(steps) || !steps.every(isObject)) throw new Error(`the run ${path} has no list of steps`)
  const verdict = isObject(run['verifier']) ? run['verifier'] : {}
  return [{ ...verdict, type: 'verifier' }, ...steps.map((step) => ({ ...step, type: 'step' }))]
}
