/** Judges what is stored by what the clients saw. Pure: a history and a snapshot in, every broken promise out. */
import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { violation, type Violation } from '../oracle.ts'
import { MARK, saidIn, textOf } from './exchanges.ts'
import type { History, Sent } from './history.ts'

export interface SeenRow {
  readonly sequence: number
  readonly agent_record_id: string
  readonly request_type: string
  readonly references: readonly string[]
}
export interface SeenScenario {
  readonly name: string
  readonly rows: readonly SeenRow[]
  /** By id, of those rows that were read whole. */
  readonly payloads: ReadonlyMap<string, JsonObject>
  /** Oldest first. */
  readonly releases: readonly { readonly step: Json; readonly operation: Json }[]
}
export interface SeenArchive {
  readonly file: string
  readonly payloads: ReadonlyMap<string, JsonObject>
}
export interface Snapshot {
  /** In the order listed. */
  readonly scenarios: readonly SeenScenario[]
  readonly archives: readonly SeenArchive[]
  /** Names of archived pointers in the artifact repository. */
  readonly archivedRefs: readonly string[]
}

export function judge(history: History, snapshot: Snapshot): readonly Violation[] {
  const marks = new Map<string, string>()
  return [
    ...history.surprises.map((detail) => violation('answer', detail)),
    ...judgeList(history, snapshot.scenarios),
    ...snapshot.scenarios.flatMap((scenario) => judgeScenario(history, scenario, marks)),
    ...judgeArchives(history, snapshot, marks),
  ]
}

/** Scenarios whose creation or removal was not answered: the list says whether it happened. Before judging, since an archive belongs to a removal. */
export function settleScenarios(history: History, names: readonly string[]): void {
  for (const [name, fate] of history.scenarios) {
    if (fate === 'kept') continue
    if (names.includes(name)) history.scenarios.set(name, 'kept')
    else if (fate === 'removing') history.setAside(name, [])
    else history.forget(name)
  }
}

/** Records without an answer: stored or not, that is how it stays. */
export function settleRecords(history: History, { scenarios }: Snapshot): void {
  const found = new Map(scenarios.flatMap(({ payloads }) => [...payloads].map(([id, payload]) => [markOf(payload), id])))
  for (const sent of history.sent.values()) if (sent.fate === 'open') history.settle(sent, found.get(sent.mark))
}

function judgeList(history: History, scenarios: readonly SeenScenario[]): Violation[] {
  const names = scenarios.map(({ name }) => name)
  const listed = new Set(names)
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  const strange = names.filter((name) => !history.scenarios.has(name))
  const missing = [...history.scenarios].filter(([name, fate]) => fate === 'kept' && !listed.has(name))
  return [
    ...twice.map((name) => violation('duplicate', `scenario ${name} is listed twice`)),
    ...strange.map((name) => violation('scenario', `${name} is listed and was removed or never made`)),
    ...missing.map(([name]) => violation('lost', `scenario ${name} is not listed`)),
  ]
}

function judgeScenario(history: History, seen: SeenScenario, marks: Map<string, string>): Violation[] {
  const { name, rows, payloads, releases } = seen
  const byId = new Map(rows.map((row) => [row.agent_record_id, row]))
  const [first] = releases
  const sent = history.of(name)
  const created = isDeepStrictEqual(first, { step: 0, operation: 'create' })
  return [
    ...(created ? [] : [violation('release chain', `${name} begins with ${JSON.stringify(first)} and not with its creation`)]),
    ...judgeOrder(name, rows),
    ...judgeReferences(name, rows),
    ...[...payloads].flatMap(([id, payload]) => judgeRecord(history, name, byId.get(id), id, payload, marks)),
    ...judgeUnread(name, seen, sent),
    ...judgeBatches(name, byId, sent),
  ]
}

function judgeOrder(name: string, rows: readonly SeenRow[]): Violation[] {
  const gaps = rows.flatMap(({ sequence }, index) => (sequence === index + 1 ? [] : [`${index + 1} and found ${sequence}`]))
  const ids = new Set<string>()
  const twice = rows.filter(({ agent_record_id: id }) => ids.size === ids.add(id).size)
  return [
    ...gaps.slice(0, 1).map((found) => violation('gap', `${name} should hold sequence ${found}`)),
    ...twice.map(({ agent_record_id }) => violation('duplicate', `${name} lists ${agent_record_id} twice`)),
  ]
}

/** What a report quotes was stored before it. */
function judgeReferences(name: string, rows: readonly SeenRow[]): Violation[] {
  const before = new Set<string>()
  return rows.flatMap(({ agent_record_id, request_type, references }) => {
    const missing = references.filter((id) => !before.has(id))
    if (request_type === 'inference') before.add(agent_record_id)
    return missing.map((id) => violation('lost', `${name}: report ${agent_record_id} quotes ${id}, which is not stored before it`))
  })
}

function judgeRecord(
  history: History,
  name: string,
  row: SeenRow | undefined,
  id: string,
  payload: JsonObject,
  marks: Map<string, string>,
): Violation[] {
  const mark = markOf(payload)
  const sent = history.sent.get(mark)
  if (sent === undefined || sent.scenario !== name) return [violation('from nowhere', `${name} holds ${id}, which no client sent there`)]
  const earlier = marks.get(mark)
  marks.set(mark, id)
  if (earlier !== undefined) return [violation('duplicate', `${mark} is stored as ${earlier} and as ${id}`)]
  if (sent.fate === 'absent') return [violation('from nowhere', `${name} holds ${id}, which was refused or not there before`)]
  if (sent.id !== null && sent.id !== id) return [violation('lost', `${mark} was acknowledged as ${sent.id} and is stored as ${id}`)]
  const isAsSent = row?.request_type === sent.type && isDeepStrictEqual(row.references, referencesOf(sent)) && isAsStored(sent, payload)
  return isAsSent ? [] : [violation('altered', `${name}: ${id} (${mark}) is not what was sent`)]
}

/** Rows that were not read whole are known from before; what was kept is there. */
function judgeUnread(name: string, { rows, payloads }: SeenScenario, sent: readonly Sent[]): Violation[] {
  const kept = new Set(sent.filter(({ fate }) => fate === 'kept').map(({ id }) => id))
  const listed = new Set(rows.map(({ agent_record_id }) => agent_record_id))
  const strange = [...listed].filter((id) => !kept.has(id) && !payloads.has(id))
  const missing = [...kept].filter((id) => id !== null && !listed.has(id))
  return [
    ...missing.map((id) => violation('lost', `${name}: ${id} was acknowledged and is not listed`)),
    ...strange.map((id) => violation('from nowhere', `${name} lists ${id}, whose body cannot be read and which was never acknowledged`)),
  ]
}

function judgeBatches(name: string, byId: ReadonlyMap<string, SeenRow>, sent: readonly Sent[]): Violation[] {
  const batches = Map.groupBy(
    sent.filter(({ batch }) => batch !== null),
    ({ batch }) => batch,
  )
  return [...batches].flatMap(([batch, members]) => {
    const stored = members.filter(({ id }) => id !== null && byId.has(id)).length
    return stored === 0 || stored === members.length
      ? []
      : [violation('torn batch', `${name}: ${stored} of the ${members.length} records of batch ${batch} are stored`)]
  })
}

/** Every scenario that is gone lies in one archive, whole; nothing of it is left behind or kept twice. */
function judgeArchives(history: History, { archives, archivedRefs }: Snapshot, live: ReadonlyMap<string, string>): Violation[] {
  const files = new Set(archives.map(({ file }) => file))
  const refs = new Set(archivedRefs)
  const byMark = Map.groupBy(
    archives.flatMap(({ payloads }) => [...payloads.values()]),
    markOf,
  )
  const places = history.removed.flatMap(({ scenario, archived }) =>
    archived.filter((place) => !files.has(place) && !refs.has(place)).map((place) => `${place} of ${scenario} does not exist`),
  )
  const extra = archives.length === history.removed.length ? [] : [`${archives.length} archives for ${history.removed.length} removals`]
  const records = history.removed.flatMap(({ sent }) => sent.flatMap((one) => judgeArchived(one, byMark.get(one.mark) ?? [], live)))
  return [...[...places, ...extra].map((detail) => violation('archive', detail)), ...records]
}

function judgeArchived(sent: Sent, found: readonly JsonObject[], live: ReadonlyMap<string, string>): Violation[] {
  const [payload] = found
  if (live.has(sent.mark)) return [violation('duplicate', `${sent.mark} is stored and was archived`)]
  if (found.length > 1) return [violation('duplicate', `${sent.mark} is in more than one archive`)]
  if (payload === undefined) return sent.fate === 'kept' ? [violation('lost', `${sent.mark} was kept and is in no archive`)] : []
  return isAsStored(sent, payload) ? [] : [violation('altered', `${sent.mark} is not in its archive as it was sent`)]
}

function isAsStored(sent: Sent, payload: JsonObject): boolean {
  if (sent.streamed === null) return isDeepStrictEqual(payload, sent.payload)
  const { response, ...request } = payload
  if (!isObject(response) || !isDeepStrictEqual(request, sent.payload) || response['stream'] !== true) return false
  const [said, all] = [saidIn(sent.streamed, response), textOf(sent.mark)]
  if (response['complete'] === true) return said === all
  // A stream that broke was not acknowledged; what is stored of it is its beginning.
  return !sent.isAcknowledged && response['complete'] === false && all.startsWith(said)
}

/** Reports keep four fields, so theirs stands in the metadata. */
function markOf(payload: JsonObject): string {
  const { metadata } = payload
  const mark = payload[MARK] ?? (isObject(metadata) ? metadata[MARK] : undefined)
  return typeof mark === 'string' ? mark : ''
}

function referencesOf({ payload, type }: Sent): Json {
  return type === 'report' ? (payload['references'] ?? []) : []
}
