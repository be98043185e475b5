/** Admits imported records: an envelope of exactly three fields, one at a time or up to a thousand at once. */
import type { Json, JsonObject } from '../contract/index.ts'
import { importBatchEnvelope, importEnvelope } from '../contract/wire/index.ts'
import { elementsOf, firstOf, isListAt, isObjectAt, membersOf, type Member, type Span } from '../kit/index.ts'
import { draftReport } from './admit-report.ts'
import { parseAt, scoreOf, type RecordDraft } from './draft.ts'
import { checkShape } from './shape.ts'

/** Adds the tags of the request's headers to an inference's payload, as for live traffic. */
type Tagging = (payload: Buffer) => Buffer

/** Reads the envelope that begins at `start` in checked JSON. */
export function draftImport(bytes: Buffer, tag: Tagging, at = '', start = firstOf(bytes)): RecordDraft {
  const members = [...membersOf(bytes, start)]
  const { agent_record_id, request_type } = checkShape(importEnvelope, outlined(bytes, members), at)
  const payload = members.find(({ key }) => key === 'payload')
  if (payload === undefined) throw new Error('an envelope without a payload passed its check')
  if (request_type === 'report') {
    const { about: _live, ...report } = draftReport(bytes, at === '' ? 'payload' : `${at}.payload`, payload.start)
    return { ...report, agent_record_id }
  }
  const tagged = tag(bytes.subarray(payload.start, payload.end))
  return { agent_record_id, request_type, references: [], score: scoreIn(tagged), payload: tagged, at: '' }
}

export function draftBatch(bytes: Buffer, tag: Tagging): readonly RecordDraft[] {
  const members = [...membersOf(bytes)]
  const list = members.find(({ key }) => key === 'records')
  const spans = list !== undefined && isListAt(bytes, list.start) ? [...elementsOf(bytes, list.start)] : []
  const isList = list !== undefined && isListAt(bytes, list.start)
  const elements = spans.map(({ start }) => (isObjectAt(bytes, start) ? {} : null))
  checkShape(importBatchEnvelope, { ...outlined(bytes, members), ...(isList && { records: elements }) })
  return spans.map(({ start }, index) => draftImport(bytes, tag, `records[${index}]`, start))
}

/** Just enough of the members for the check: the content of objects and lists does not matter to an envelope. */
function outlined(bytes: Buffer, members: readonly Member[]): JsonObject {
  return Object.fromEntries(members.map((member) => [member.key, outline(bytes, member)]))
}

function outline(bytes: Buffer, { start, end }: Span): Json {
  if (isObjectAt(bytes, start)) return {}
  return isListAt(bytes, start) ? [] : parseAt(bytes, { start, end })
}

function scoreIn(payload: Buffer): number | null {
  let score: Json = null
  for (const member of membersOf(payload)) if (member.key === 'score') score = outline(payload, member)
  return scoreOf(score)
}
