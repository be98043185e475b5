/** Reads back what evolution made, over the service's own routes. */
import native from '../../../plugins/adapters/native/index.ts'
import type { Entry, Files, JsonObject, RequestType } from '../../../src/contract/index.ts'
import { entriesIn, parseMutations } from '../../../src/harness/index.ts'
import { get, listIn, pages, textIn, textsIn } from '../http.ts'
import { NAMES, type Name } from './cast.ts'
import type { Row, Seen } from './seen.ts'

const PAGE_ROWS = 100

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
    const commits = await pages(address, `${base}/commits?limit=${PAGE_ROWS}&after_step=`, 'commits', 'next_after_step')
    const releases = listIn(await get(address, `${base}/releases`), 'releases').toReversed()
    // The catalog was read later: what landed in between is left for the next reading.
    const rows = releases.slice(0, commits.length + 1).map((release, step) => rowOf(release, commits[step - 1]))
    const records = await pages(address, `${base}/records?limit=${PAGE_ROWS}&after_sequence=`, 'records', 'next_after_sequence')
    for (const { release } of rows) if (release !== null) await this.#readTree(address, name, release)
    return {
      name,
      rows,
      records: new Map(records.map((record) => [textIn(record, 'agent_record_id'), typeIn(record)])),
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

/** The creation has no row among the commits. */
function rowOf(release: JsonObject, commit: JsonObject | undefined): Row {
  const metrics: JsonObject = Object(commit?.['metrics'])
  const own = commit === undefined ? textIn(release, 'release_id') : commit['artifact_ref']
  const { mutation, mutations = mutation === undefined ? undefined : [mutation] } = metrics
  return {
    step: Number(release['step']),
    result: textIn(release, 'result'),
    release: typeof own === 'string' ? own : null,
    consumed: commit === undefined ? [] : textsIn(commit, 'consumed_ids'),
    mutations: mutations === undefined ? [] : parseMutations(mutations),
    metrics,
    printed: JSON.stringify(commit ?? null),
  }
}

function typeIn(record: JsonObject): RequestType {
  const type = textIn(record, 'request_type')
  return type === 'train' || type === 'report' ? type : 'inference'
}

async function stepRecords(address: string, name: Name, rows: readonly Row[]): Promise<ReadonlyMap<number, string>> {
  const told = new Map<number, string>()
  for (const { step } of rows) {
    const answer = await get(address, `/svc/harness/releases/${step}/records`, name)
    told.set(step, `${textIn(answer, 'status')} ${listIn(answer, 'files').length > 0 ? 'with' : 'without'} files`)
  }
  return told
}
