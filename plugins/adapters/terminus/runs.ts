/** What Terminus left of its runs: per run one JSON document with the steps of the agent and what the verifier said of them. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { filesBelow } from '../../../src/harness/index.ts'

/** Per run the verdict first, then every step, in the order of their paths. */
export async function readRuns(folder: string): Promise<readonly JsonObject[]> {
  const paths = (await filesBelow(folder)).filter((path) => path.endsWith('.json'))
  const runs = await Promise.all(paths.map(async (path) => eventsOf(path, JSON.parse(await readFile(join(folder, path), 'utf8')))))
  return runs.flat()
}

function eventsOf(path: string, run: Json): readonly JsonObject[] {
  const steps = isObject(run) ? run['steps'] : undefined
  if (!isObject(run) || !isList(steps) || !steps.every(isObject)) throw new Error(`the run ${path} has no list of steps`)
  const verdict = isObject(run['verifier']) ? run['verifier'] : {}
  return [{ ...verdict, type: 'verifier' }, ...steps.map((step) => ({ ...step, type: 'step' }))]
}

/** Array.isArray says nothing of lists that may not be written to. */
const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)
