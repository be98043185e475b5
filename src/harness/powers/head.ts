/** The powers of front matter: every field that a change adds, removes or alters. */
import { isDeepStrictEqual } from 'node:util'
import { isObject, type AdapterPowers, type Entry, type JsonObject, type PowerReason } from '../../contract/index.ts'
import { headIn } from '../support/front-matter.ts'
import { baselineOf, entryOf, reasonsFor, type EntryPair } from './change.ts'

export function headReasons({ head }: AdapterPowers, change: EntryPair): readonly PowerReason[] {
  const { id } = entryOf(change)
  const [old, now] = [fieldsOf(baselineOf(change)), fieldsOf(change.after)]
  if (old === null || now === null) return reasonsFor(undefined, id, 'it has front matter that cannot be read')
  const fields = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  const changed = fields.filter((field) => !isDeepStrictEqual(own(old, field), own(now, field)))
  const claiming = changed.filter((field) => WHEN.has(field) && claimsAll(own(now, field)))
  return [
    ...changed.flatMap((field) => reasonsFor(own(head, field), id, `it changes ${field} in the front matter`)),
    ...claiming.map((field): PowerReason => ({ power: 'orders', entry: id, why: `its ${field} claims every task` })),
  ]
}

/** The fields that say when the agent reads a text. */
const WHEN: ReadonlySet<string> = new Set(['description', 'when_to_use'])

/** A text that is read in every task reaches tasks that it was never judged on; a rule says so openly. */
const claimsAll = (value: unknown): boolean => typeof value === 'string' && CLAIMS.some((claim) => claim.test(value))
const CLAIMS: readonly RegExp[] = [
  /\b(?:always|whenever|everything|anything|no matter|in any case|first thing)\b/i,
  /\b(?:every|each|all|any)\s+(?:\w+\s+)?(?:task|request|question|answer|repl|session|conversation|time|work|job|turn|message|case|situation|project|change)(?:s|y|ies)?\b(?!\s+(?:about|of|on|with|involving|where|whose|named|called)\s)/i,
]

const own = <T>(from: Readonly<Record<string, T>>, field: string): T | undefined => (Object.hasOwn(from, field) ? from[field] : undefined)

/** Null where an agent might read a head that we cannot. Some skip blank lines or a byte order mark before it. */
function fieldsOf(entry: Entry | null): JsonObject | null {
  const text = entry?.config['text']
  if (typeof text !== 'string' || !/^[\s\uFEFF]*---/.test(text)) return {}
  const head = headIn(text)
  return isObject(head) ? head : null
}
