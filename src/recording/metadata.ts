/** A record without its words: who, when, how much and how good, and nothing that was said. */
import { METADATA_MARK, TAG_VALUE_CHARACTERS_MAX, TAGS_MAX, type JsonObject, type NewRecord } from '../contract/index.ts'
import { countCodePoints, cutOut, isObjectAt, type Span } from '../kit/index.ts'
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

/** Tags stand in one of two places, or in both where a body has some of its own. */
function tagMembers(bytes: Buffer): string[] {
  const { values } = cutOut(bytes, ['metadata', 'metadata_tags'])
  const metadata = values.get('metadata')
  const isObject = metadata !== undefined && isObjectAt(bytes, metadata.start)
  const inside = isObject ? cutOut(bytes, ['tags'], metadata.start).values.get('tags') : undefined
  const tags = Object.fromEntries([values.get('metadata_tags'), inside].flatMap((span) => textTags(bytes, span)))
  return Object.keys(tags).length === 0 ? [] : [`"metadata":${JSON.stringify({ tags })}`]
}

/** A body may say anything under that name: only what a header could have sent is a tag. */
function textTags(bytes: Buffer, span: Span | undefined): readonly (readonly [string, string])[] {
  if (span === undefined || !isObjectAt(bytes, span.start)) return []
  const tags: JsonObject = JSON.parse(bytes.toString('utf8', span.start, span.end))
  const texts = Object.entries(tags).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : []))
  return texts.filter((tag) => tag.every((text) => countCodePoints(text) <= TAG_VALUE_CHARACTERS_MAX)).slice(0, TAGS_MAX)
}
