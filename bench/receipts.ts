/** Checks that every acknowledged receipt is stored after kill -9 and a restart. */

import { existsSync, readFileSync } from 'node:fs'
import { get } from './asking.ts'
import { SCENARIO, type Running } from './contestant.ts'

const PAGE_ROWS = 100
/** How many records are read whole; of the others only the row is checked. */
const BODIES_READ = 50

export async function checkReceipts({ port, routes = '/svc' }: Running, receiptsFile: string) {
  const list = `${routes}/scenarios/${SCENARIO}/records`
  const acknowledged = existsSync(receiptsFile) ? readFileSync(receiptsFile, 'utf8').split('\n').filter(Boolean) : []
  const stored = await storedIds(port, list)
  const sample = acknowledged.filter((_, index) => index % Math.ceil(acknowledged.length / BODIES_READ) === 0)
  const bodies = await Promise.all(sample.map((id) => hasBody(port, list, id)))
  return {
    acknowledged: acknowledged.length,
    stored: stored.size,
    missing: acknowledged.filter((id) => !stored.has(id)).length,
    bodiesRead: bodies.length,
    bodiesMissing: bodies.filter((has) => !has).length,
  }
}

async function storedIds(port: number, list: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  for (let after: unknown = 0; typeof after === 'number';) {
    const page = await get(port, `${list}?after_sequence=${after}&limit=${PAGE_ROWS}`)
    const rows = page['records']
    if (!Array.isArray(rows)) throw new Error('the list of records has no records')
    for (const row of rows) ids.add(String(Object(row)['agent_record_id']))
    after = page['next_after_sequence']
  }
  return ids
}

function hasBody(port: number, list: string, id: string): Promise<boolean> {
  return get(port, `${list}/${encodeURIComponent(id)}`).then(
    ({ payload }) => Object(Object(payload)['response']) === Object(payload)['response'],
    () => false,
  )
}
