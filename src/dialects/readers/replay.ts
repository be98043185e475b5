/** A stored exchange as a request that can be asked once more: as it was, of another model, or with the texts of another release. */
import type { Json, JsonObject } from '../../contract/index.ts'
import type { DialectReader } from '../conversation.ts'
import { isObject } from '../values.ts'
import { claimingReader } from './claim.ts'

/** Paths and texts of a release. */
type ReleaseTexts = Readonly<Record<string, string>>

export interface ReplayOrder {
  /** Of another model; absent: of the one that was asked. */
  readonly model?: string
  /** With the texts of another release in place of those of the release that it was asked with. */
  readonly texts?: { readonly before: ReleaseTexts; readonly after: ReleaseTexts }
}

export interface Replay {
  readonly reader: DialectReader
  readonly path: string
  readonly body: JsonObject
  readonly model: string
  /** What was answered then. */
  readonly answer: JsonObject
  readonly storedModel: string
  readonly texts: ReplayedTexts
}

export interface ReplayedTexts {
  /** Changed files whose text stood in the request, and stands there as it is in the other release. */
  readonly replaced: readonly string[]
  /** Changed files whose text does not stand in the request, so that they change nothing here. */
  readonly absent: readonly string[]
}

/** Null for what is no exchange with a model. The payload is the request with its answer under `response`. */
export function replayOf(payload: JsonObject, storedModel: string, { model: wanted, texts }: ReplayOrder): Replay | null {
  const reader = claimingReader(payload)
  const { response: answer, ...request } = payload
  if (reader === null || !isObject(answer)) return null
  const named = typeof request['model'] === 'string' ? request['model'] : storedModel
  const model = wanted ?? named
  const plain = withoutAdditions(request)
  const own = { ...plain, ...(wanted !== undefined && request['model'] !== undefined && { model: wanted }) }
  const { body, ...replayed } = texts === undefined ? { body: own, replaced: [], absent: [] } : withTexts(own, texts)
  return { reader, path: reader.askPath(model), body, model, answer, storedModel: named, texts: replayed }
}

/** Without what the service added to store it, and whole: an answer in pieces is hard to compare. */
function withoutAdditions(request: JsonObject): JsonObject {
  const { metadata, metadata_tags: _tags, stream: _stream, stream_options: _options, ...rest } = request
  const { tags: _own, ...own } = isObject(metadata) ? metadata : {}
  return { ...rest, ...(Object.keys(own).length > 0 && { metadata: own }) }
}

/** A shorter text stands in many requests by chance. */
const TEXT_CHARACTERS_MIN = 16

function withTexts(body: JsonObject, { before, after }: NonNullable<ReplayOrder['texts']>): { readonly body: JsonObject } & ReplayedTexts {
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((path) => before[path] !== after[path])
  const known = changed.flatMap((path) => {
    const old = before[path]?.trim() ?? ''
    return old.length < TEXT_CHARACTERS_MIN ? [] : [{ path, old, now: after[path]?.trim() ?? '' }]
  })
  const replaced = new Set<string>()
  if (known.length === 0) return { body, replaced: [], absent: changed }
  // The longest first: a text may hold another one.
  const olds = known.toSorted((one, other) => other.old.length - one.old.length).map(({ old }) => escaped(old))
  const pattern = new RegExp(olds.join('|'), 'g')
  const inText = (text: string): string =>
    text.replaceAll(pattern, (found) => {
      const { path, now } = known.find(({ old }) => old === found) ?? { path: '', now: found }
      replaced.add(path)
      return now
    })
  const own = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, mapped(value, inText)]))
  return { body: own, replaced: [...replaced], absent: changed.filter((path) => !replaced.has(path)) }
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)

function mapped(value: Json, text: (raw: string) => string): Json {
  if (typeof value === 'string') return text(value)
  if (Array.isArray(value)) return value.map((item: Json) => mapped(item, text))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapped(member, text)]))
}
