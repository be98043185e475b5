/** A record without its words: who, when, how much and how good, and nothing that was said. */
import { METADATA_MARK, type NewRecord } from '../contract/index.ts'
import { cutOut, isObjectAt } from '../kit/index.ts'
import { payloadOf, withPayload } from './payload.ts'

/** What a report keeps. Nothing else of it is a number or an id. */
const OF_REPORT = ['references', 'score'] as const

/** The row has the rest of what is known without words: time, type, release, model, tokens. Deleting a person's records needs the tags. */
export function withoutWords(record: NewRecord): NewRecord {
  const bytes = payloadOf(record)
  const members = record.request_type === 'report' ? reportMembers(bytes) : tagMembers(bytes)
  return withPayload(record, Buffer.from(`${[METADATA_MARK, ...members].join(',')}}`))
}

function reportMembers(bytes: Buffer): string[] {
  const { values } = cutOut(bytes, OF_REPORT)
  return OF_REPORT.flatMap((key) => {
    const span = values.get(key)
    return span === undefined ? [] : [`"${key}":${bytes.toString('utf8', span.start, span.end)}`]
  })
}

/** Tags stand where the record of an exchange has them. */
function tagMembers(bytes: Buffer): string[] {
  const { values } = cutOut(bytes, ['metadata', 'metadata_tags'])
  const metadata = values.get('metadata')
  const beside = values.get('metadata_tags')
  if (beside !== undefined) return [`"metadata_tags":${bytes.toString('utf8', beside.start, beside.end)}`]
  if (metadata === undefined || !isObjectAt(bytes, metadata.start)) return []
  const tags = cutOut(bytes, ['tags'], metadata.start).values.get('tags')
  return tags === undefined ? [] : [`"metadata":{"tags":${bytes.toString('utf8', tags.start, tags.end)}}`]
}
