/** Reads back what evolution made, over the service's own routes. */
import native from '../../../plugins/adapters/native/index.ts'
import type { Entry, Files, JsonObject } from '../../../src/contract/index.ts'
import { entriesIn, parseMutations } from '../../../src/harness/index.ts'
import { get, listIn, requestTypeIn, textIn } from '../http.ts'
import { readRecords, readSteps, stepRowOf, type ReadStep } from '../steps.ts'
import { NAMES, type Name } from './cast.ts'
import type { Row, Seen } from './seen.ts'

/** A release is what it is for good: its tree is read once and remembered. */
export class Reader {
  readonly #trees = new Map<string, readonly Entry[]>()

  /** All trees are read from the disk again. */
  forgetTrees(): void {
    this.#trees.clear()
  }

  async read(address: string): Promise<readonly Seen[]> {
    const seen: Seen[] = []
    for (const name of NAMES) seen.push(await this.#story(address, name))
    return seen
  }

  /** Rows before records: whatever a row consumed is in a list that was read after it. */
  async #story(address: string, name: Name): Promise<Seen> {
    const base = `/svc/scenarios/${name}`
    const rows = (await readSteps(address, base)).map(rowOf)
    const records = await readRecords(address, base)
    for (const { release } of rows) if (release !== null) await this.#readTree(address, name, release)
    return {
      name,
      rows,
      records: new Map(records.map((record) => [textIn(record, 'agent_record_id'), requestTypeIn(record)])),
      head: textIn(await get(address, '/svc/harness', name), 'release_id'),
      trees: this.#trees,
      stepRecords: await stepRecords(address, name, rows),
    }
  }

  async #readTree(address: string, name: Name, release: string): Promise<void> {
    if (this.#trees.has(release)) return
    const manifest = await get(address, `/svc/harness?release_id=${release}`, name)
    const files: Files = Object(manifest['files'])
    this.#trees.set(release, entriesIn(native.plugin, files))
  }
}

function rowOf(step: ReadStep): Row {
  const metrics: JsonObject = Object(step.commit?.['metrics'])
  const { mutation, mutations = mutation === undefined ? undefined : [mutation] } = metrics
  return { ...stepRowOf(step), metrics, mutations: mutations === undefined ? [] : parseMutations(mutations) }
}

async function stepRecords(address: string, name: Name, rows: readonly Row[]): Promise<ReadonlyMap<number, string>> {
  const records = new Map<number, string>()
  for (const { step } of rows) {
    const answer = await get(address, `/svc/harness/releases/${step}/records`, name)
    records.set(step, `${textIn(answer, 'status')} ${listIn(answer, 'files').length > 0 ? 'with' : 'without'} files`)
  }
  return records
}
