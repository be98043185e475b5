/** Records: import, report, train instructions, and reading them back. */
import { HEADER, invalid, isMetadataOnly, ROUTE_PREFIX, unknown } from '../../contract/index.ts'
import type { Commit, NewRecord, RecordRow, Receipt, Receipts, RecordList, TrainReceipt, TrainRequest } from '../../contract/index.ts'
import { admit, admitTrain, appendRecords, checkFirstRecords, noExchange, quoteSession } from '../../records/index.ts'
import type { AdmissionRules, RecordDraft, FieldPrefix } from '../../records/index.ts'
import type { Scenario } from '../../scenarios/index.ts'
import { pageQuery } from '../credentials/auth.ts'
import { noteChange, noteImplicitScenario } from './audit.ts'
import type { HttpContext } from '../context.ts'
import { json, liveJson, type HttpReply } from '../reply.ts'
import {
  askedRecording,
  cutPage,
  headerText,
  nameInPath,
  oneOf,
  pageLimit,
  pageStart,
  REQUEST_TYPES,
  scenarioOf,
  tagsOf,
} from '../request-fields.ts'
import { withExcerpts } from './search.ts'
import type { HttpServices } from '../services.ts'

export async function importOne(context: HttpContext): Promise<HttpReply> {
  return json((await keep(context, 'import', () => 'payload.'))[0] ?? {})
}

export async function importBatch(context: HttpContext): Promise<HttpReply> {
  return json({ records: await keep(context, 'batch', (index) => `records[${index}].payload.`) } satisfies Receipts)
}

export async function report(context: HttpContext): Promise<HttpReply> {
  return json((await keep(context, 'report', () => ''))[0] ?? {})
}

/** The body is judged before anything is resolved, so that a bad one creates no scenario; the recipe's own rules follow. */
async function keep(context: HttpContext, kind: 'report' | 'import' | 'batch', place: FieldPrefix): Promise<readonly Receipt[]> {
  const { services } = context
  const name = scenarioOf(context.request)
  context.logFields.scenario = name
  const drafts = await services.bodies.drafts(kind, await context.readBytes(), tagsOf(context.request.headers))
  const less = lessRecording(context)
  const admitted = (all: readonly RecordDraft[], scenario: Scenario | null): readonly NewRecord[] =>
    all.map((draft) => ({ ...admit(draft, admissionOf(services, scenario)), ...less }))
  const isOpen = drafts.some(({ about }) => about !== undefined)
  // A recipe checks the report with its receipts, which need the scenario's records.
  const loaded = isOpen ? null : (services.registry.loaded(name) ?? null)
  const early = admitted(drafts, loaded)
  if (!(await services.registry.has(name))) {
    if (isOpen) throw noExchange()
    checkFirstRecords(early, place)
  }
  const append = async (scenario: Scenario): Promise<readonly Receipt[]> => {
    const whole = isOpen ? await Promise.all(drafts.map((draft) => quoteSession(draft, scenario.store))) : drafts
    const rows = await appendRecords(scenario, scenario === loaded ? early : admitted(whole, scenario), place)
    for (const { score, references } of kind === 'report' ? whole : []) context.trace?.reported(score, references)
    return drafts.flatMap(({ request_type }, index) => {
      const id = rows[index]?.agent_record_id
      return id === undefined ? [] : [{ agent_record_id: id, scenario: name, request_type }]
    })
  }
  const made = (row: Commit): Promise<void> => noteImplicitScenario(context, name, row)
  return services.registry.useOrCreate(name, headerText(context.request, HEADER.release), append, made)
}

/** What the client asks to be stored of what it sends, where that is less than all. */
function lessRecording({ request }: HttpContext): Pick<NewRecord, 'recording'> {
  const recording = askedRecording(request)
  return recording === null || recording === 'full' ? {} : { recording }
}

function admissionOf({ newId, clock }: HttpServices, scenario: Scenario | null): AdmissionRules {
  const checkReport = scenario?.recipe.checkReport?.bind(scenario.recipe)
  return { newId, clock, ...(checkReport && { checkReport }) }
}

/** An unknown scenario is never created here, whatever the deployment allows elsewhere. */
export async function train(context: HttpContext): Promise<HttpReply> {
  const { services } = context
  const name = scenarioOf(context.request)
  context.logFields.scenario = name
  const { record, screen } = admitTrain(await context.readObject(), services, askerOf(context))
  const { agent_record_id } = record
  const less = lessRecording(context)
  return services.registry.use(name, async (scenario) => {
    const kept = await scenario.types([agent_record_id])
    // A resend is for the store to compare, even after the mode was changed.
    if (!kept.has(agent_record_id)) {
      refuseAutoMode(scenario)
      screen()
    }
    await scenario.append([{ ...record, ...less }])
    if (!kept.has(agent_record_id))
      await noteChange(context, { scenario: name, target: agent_record_id, before: null, after: { release_id: record.artifact_ref } })
    context.logFields.receipt = agent_record_id
    const page = `${ROUTE_PREFIX}/harness/requests/${encodeURIComponent(agent_record_id)}/page`
    return json({
      agent_record_id,
      scenario: name,
      request_type: 'train',
      page_path: `${page}?${pageQuery(context.principal, scenario)}`,
    } satisfies TrainReceipt)
  })
}

/** A token of the configuration is everybody's who runs the service, and names nobody. */
export const askerOf = ({ principal }: HttpContext): TrainRequest['asked_by'] =>
  principal.kind === 'service' && principal.isStored ? { token: principal.name, role: principal.role } : undefined

function refuseAutoMode({ name, trainingMode }: Scenario): void {
  if (trainingMode !== 'auto') return
  throw invalid(
    'auto_mode',
    `scenario ${JSON.stringify(name)} runs in auto mode, which takes no instructions; switch it to manual or hybrid`,
  )
}

export async function list(context: HttpContext): Promise<HttpReply> {
  const { services, query } = context
  const name = nameInPath(context)
  const from = pageStart(query)
  const limit = pageLimit(query)
  const type = oneOf(query, 'request_type', REQUEST_TYPES)
  const hasExcerpts = oneOf(query, 'excerpts', ['yes', 'no']) === 'yes'
  return services.registry.use(name, async ({ store }) => {
    const found = await store.records({ ...from, limit: limit + 1, ...(type !== null && { type }) })
    const { rows, next } = cutPage(found, limit, (row) => row.sequence)
    const more = 'after' in from ? { next_after_sequence: next } : { next_before_sequence: next }
    const listed = rows.map(wireRow)
    return liveJson({ scenario: name, records: hasExcerpts ? await withExcerpts(store, listed) : listed, ...more } satisfies RecordList)
  })
}

/** The payload is sent as the text it was stored as, without parsing it. */
export async function read(context: HttpContext): Promise<HttpReply> {
  const { services } = context
  const name = nameInPath(context)
  const id = context.params['record_id'] ?? ''
  return services.registry.use(name, async ({ store }) => {
    const { payload, ...row } = await storedRecord(store, id)
    const head = JSON.stringify(wireRow(row)).slice(0, -1)
    return { ...liveJson({}), body: Buffer.concat([Buffer.from(`${head},"payload":`), payload, Buffer.from('}')]) }
  })
}

/** Refuses one whose body is not there. */
export async function storedRecord(store: Scenario['store'], id: string) {
  const record = await store.get(id)
  if (record === null) throw unknown('unknown_record', 'no record of that id is stored in this scenario')
  const { payload, ...row } = record
  if (payload === null)
    throw unknown(
      'record_expired',
      'the body of this record was evicted, to make room or because it was older than recording.retention_days; its metadata is still listed',
    )
  if (isMetadataOnly(payload))
    throw unknown('record_not_kept', 'the words of this record were never stored (recording: metadata); its metadata is listed')
  return { ...row, payload }
}

function wireRow({ sequence, agent_record_id, request_type, created_at, references, artifact_ref, score, summary }: RecordRow): RecordRow {
  const row = { sequence, agent_record_id, request_type, created_at, references, artifact_ref, score }
  return summary === undefined ? row : { ...row, summary }
}
