/** Records: import, report, and reading them back. */
import { HEADER, invalid, unknown, type JsonObject, type NewRecord, type RecordRow, type RequestType } from '../contract/index.ts'
import {
  admit,
  appendRecords,
  checkFirstRecords,
  noExchange,
  quoteSession,
  type Admission,
  type Draft,
  type Place,
} from '../records/index.ts'
import type { Scenario } from '../scenarios/index.ts'
import type { Door } from './door.ts'
import { cutPage, pageLimit, wholeNumber } from './paging.ts'
import { json, liveJson, type Asked, type Reply } from './reply.ts'
import { headerText, scenarioOf, tagsOf } from './scope.ts'
import { nameInPath } from './params.ts'

export async function importOne(asked: Asked): Promise<Reply> {
  return json((await keep(asked, 'import', () => 'payload.'))[0] ?? {})
}

export async function importBatch(asked: Asked): Promise<Reply> {
  return json({ records: await keep(asked, 'batch', (index) => `records[${index}].payload.`) })
}

export async function report(asked: Asked): Promise<Reply> {
  return json((await keep(asked, 'report', () => ''))[0] ?? {})
}

/** The body is judged before anything is resolved, so that a bad one creates no scenario; the recipe's own rules follow. */
async function keep({ door, visit, bytes }: Asked, kind: 'report' | 'import' | 'batch', place: Place): Promise<readonly JsonObject[]> {
  const name = scenarioOf(visit.request)
  visit.note.scenario = name
  const drafts = await door.bodies.drafts(kind, await bytes(), tagsOf(visit.request.headers))
  const admitted = (all: readonly Draft[], scenario: Scenario | null): readonly NewRecord[] =>
    all.map((draft) => admit(draft, admissionOf(door, scenario)))
  const isOpen = drafts.some(({ about }) => about !== undefined)
  // What a recipe asks of a report is asked of the one with receipts.
  const loaded = isOpen ? null : (door.registry.loaded(name) ?? null)
  const early = admitted(drafts, loaded)
  if (isOpen && !door.registry.has(name)) throw noExchange()
  if (!door.registry.has(name)) checkFirstRecords(early, place)
  return door.registry.useOrCreate(name, headerText(visit.request, HEADER.release), async (scenario) => {
    const whole = isOpen ? await Promise.all(drafts.map((draft) => quoteSession(draft, scenario.store))) : drafts
    const rows = await appendRecords(scenario, scenario === loaded ? early : admitted(whole, scenario), place)
    return rows.map(({ agent_record_id, request_type }) => ({ agent_record_id, scenario: name, request_type }))
  })
}

function admissionOf({ newId, clock }: Door, scenario: Scenario | null): Admission {
  const checkReport = scenario?.recipe.checkReport?.bind(scenario.recipe)
  return { newId, clock, ...(checkReport && { checkReport }) }
}

export async function list({ door, visit, query }: Asked): Promise<Reply> {
  const name = nameInPath(visit)
  const from = startOf(query)
  const limit = pageLimit(query)
  const type = requestType(query.get('request_type'))
  return door.registry.use(name, async ({ store }) => {
    const found = await store.records({ ...from, limit: limit + 1, ...(type !== null && { type }) })
    const { rows, next } = cutPage(found, limit, (row) => row.sequence)
    const more = 'after' in from ? { next_after_sequence: next } : { next_before_sequence: next }
    return liveJson({ scenario: name, records: rows.map(wireRow), ...more })
  })
}

/** Oldest first unless the newest are asked for: whoever looks wants to see what just happened. */
function startOf(query: URLSearchParams): { readonly after: number } | { readonly before: number } {
  const order = query.get('order') ?? 'oldest'
  if (order !== 'oldest' && order !== 'newest') throw invalid('invalid_query', "order: must be 'oldest' or 'newest'")
  const [own, other] = order === 'oldest' ? ['after_sequence', 'before_sequence'] : ['before_sequence', 'after_sequence']
  if (query.has(other)) throw invalid('invalid_query', `${other}: does not go with the order ${order}; send ${own}`)
  const from = wholeNumber(query, own, order === 'oldest' ? 0 : Number.MAX_SAFE_INTEGER)
  return order === 'oldest' ? { after: from } : { before: from }
}

function requestType(value: string | null): RequestType | null {
  if (value === null || value === 'inference' || value === 'report' || value === 'train') return value
  throw invalid('invalid_query', "request_type: must be 'inference', 'report' or 'train'")
}

/** The payload goes out as the text it was stored as: nobody parses it on the way. */
export async function read({ door, visit }: Asked): Promise<Reply> {
  const name = nameInPath(visit)
  const id = visit.params['record_id'] ?? ''
  return door.registry.use(name, async ({ store }) => {
    const record = await store.get(id)
    if (record === null) throw unknown('unknown_record', 'no record of that id is stored in this scenario')
    const { payload, ...row } = record
    if (payload === null) throw unknown('record_expired', 'the body of this record was evicted to make room; its metadata is still listed')
    const head = JSON.stringify(wireRow(row)).slice(0, -1)
    return { ...liveJson(''), body: Buffer.concat([Buffer.from(`${head},"payload":`), payload, Buffer.from('}')]) }
  })
}

function wireRow({ sequence, agent_record_id, request_type, created_at, references, artifact_ref, score, summary }: RecordRow): JsonObject {
  const told = summary === undefined ? {} : { summary: { ...summary } }
  return { sequence, agent_record_id, request_type, created_at, references, artifact_ref, score, ...told }
}
