/** Checks that every acknowledged receipt is stored after kill -9 and a restart. */

import { existsSync, readFileSync } from 'node:fs'
import { TOKEN } from './contestants.ts'

const PAGE_ROWS = 100
/** How many records are read whole; of the others only the row is checked. */
const BODIES_READ = 50

export interface ReceiptCheck {
  readonly acknowledged: number
  readonly stored: number
  readonly missing: number
  readonly bodiesRead: number
  readonly bodiesMissing: number
}

export async function checkReceipts(port: number, scenario: string, receiptsFile: string): Promise<ReceiptCheck> {
  const acknowledged = existsSync(receiptsFile) ? readFileSync(receiptsFile, 'utf8').split('\n').filter(Boolean) : []
  const stored = await storedIds(port, scenario)
  const sample = acknowledged.filter((_, index) => index % Math.ceil(acknowledged.length / BODIES_READ) === 0)
  const bodies = await Promise.all(sample.map((id) => hasBody(port, scenario, id)))
  return {
    acknowledged: acknowledged.length,
    stored: stored.size,
    missing: acknowledged.filter((id) => !stored.has(id)).length,
    bodiesRead: bodies.length,
    bodiesMissing: bodies.filter((has) => !has).length,
  }
}

async function storedIds(port: number, scenario: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  for (let after: unknown = 0; typeof after === 'number';) {
    const page = await read(port, `/svc/scenarios/${scenario}/records?after_sequence=${after}&limit=${PAGE_ROWS}`)
    for (const row of rowsOf(page)) ids.add(row)
    after = page?.['next_after_sequence']
  }
  return ids
}

function rowsOf(page: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const rows: unknown = page?.['records']
  if (!Array.isArray(rows)) throw new Error('the records list does not answer as promised')
  return rows.map((row) => String(asRecord(row)?.['agent_record_id']))
}

async function hasBody(port: number, scenario: string, id: string): Promise<boolean> {
  const record = await read(port, `/svc/scenarios/${scenario}/records/${encodeURIComponent(id)}`)
  return asRecord(asRecord(record?.['payload'])?.['response']) !== undefined
}

async function read(port: number, path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })
  return answer.ok ? asRecord(await answer.json()) : undefined
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
