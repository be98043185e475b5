/** Reads back what the service holds, over its own routes, and what lies in its archives, from the disk. */
import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { isObject, REF, type Json, type JsonObject } from '../../../src/contract/index.ts'
import type { Place } from '../child.ts'
import { ask, get, listIn, objectIn, textIn, textsIn } from '../http.ts'
import { readRecords } from '../steps.ts'
import type { SeenArchive, SeenRow, SeenScenario, Snapshot } from './oracle.ts'
import { IN_THE_CLEAR, StoreSeal } from '../../../plugins/stores/common/seal.ts'
import { BODY_COLUMNS, readBody, WITH_BODY, type BodyColumns } from '../../../plugins/stores/sqlite/bodies/bodies.ts'
import { Query } from '../../../plugins/stores/sqlite/query.ts'

const READS_AT_ONCE = 16
const ARCHIVES = 'archived'

export async function listScenarios(address: string): Promise<readonly string[]> {
  return listIn(await get(address, '/svc/scenarios'), 'scenarios').map((row) => textIn(row, 'scenario'))
}

/** Rows are always all listed; `wants` says which of them are read whole. */
export async function takeSnapshot(
  address: string,
  place: Place,
  names: readonly string[],
  wants: (id: string) => boolean,
): Promise<Snapshot> {
  const scenarios: SeenScenario[] = []
  for (const name of names) scenarios.push(await readScenario(address, name, wants))
  return { scenarios, archives: await readArchives(place), archivedRefs: await readArchivedRefs(place) }
}

async function readScenario(address: string, name: string, wants: (id: string) => boolean): Promise<SeenScenario> {
  const base = `/svc/scenarios/${encodeURIComponent(name)}`
  const rows = (await readRecords(address, base)).map(seenRow)
  const wanted = rows.map(({ agent_record_id: id }) => id).filter(wants)
  const payloads = new Map<string, JsonObject>()
  for (let at = 0; at < wanted.length; at += READS_AT_ONCE) {
    const read = async (id: string): Promise<void> => {
      const { payload } = objectIn(await ask(address, { method: 'GET', path: `${base}/records/${encodeURIComponent(id)}` }))
      if (isObject(payload)) payloads.set(id, payload)
    }
    await Promise.all(wanted.slice(at, at + READS_AT_ONCE).map(read))
  }
  const releases = listIn(await get(address, `${base}/releases`), 'releases')
  const chain = releases.map(({ step = null, operation = null }) => ({ step, operation })).toReversed()
  return { name, rows, payloads, releases: chain }
}

function seenRow(row: JsonObject): SeenRow {
  return {
    sequence: Number(row['sequence']),
    agent_record_id: textIn(row, 'agent_record_id'),
    request_type: textIn(row, 'request_type'),
    references: textsIn(row, 'references'),
  }
}

/** Every file there: an export that was left half-written would be one that no removal accounts for. */
async function readArchives({ records }: Place): Promise<readonly SeenArchive[]> {
  const names = await readdir(join(records, ARCHIVES)).catch(() => [])
  return names.map((name) => ({ file: `${ARCHIVES}/${name}`, payloads: readArchive(join(records, ARCHIVES, name)) }))
}

function readArchive(path: string): ReadonlyMap<string, JsonObject> {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const bodies = new Query<BodyColumns & { readonly id: string }>(
      db,
      `SELECT r.agent_record_id AS id, ${BODY_COLUMNS} FROM record r ${WITH_BODY} WHERE b.age IS NOT NULL`,
    )
    return new Map(bodies.all().map((row) => [row.id, parse(readBody(new StoreSeal(IN_THE_CLEAR), row))]))
  } finally {
    db.close()
  }
}

function parse(payload: unknown): JsonObject {
  const value: Json = payload instanceof Uint8Array ? JSON.parse(Buffer.from(payload).toString()) : null
  return isObject(value) ? value : {}
}

const run = promisify(execFile)

async function readArchivedRefs({ repository }: Place): Promise<readonly string[]> {
  const { stdout } = await run('git', [`--git-dir=${repository}`, 'for-each-ref', '--format=%(refname)', REF.archived])
  return stdout.split('\n').filter((line) => line !== '')
}
