/** Writes a sampling seed into a request's text, where its format has a member for one. Everything else stays as it was sent. */
import { cutOut, firstOf, isObjectAt, joined } from '../kit/index.ts'
import type { DialectSpec } from './dialect.ts'
import { isObject, parsed } from './values.ts'

/** Null where the format has none, where the request has one of its own, and where it is no JSON object. */
export function withSeed({ seedAt = [] }: DialectSpec, body: Buffer, seed: number): Buffer | null {
  if (seedAt.length === 0 || !isObject(parsed(body.toString('utf8')))) return null
  return seeded(body, firstOf(body), seedAt, String(seed))
}

function seeded(body: Buffer, start: number, [spellings = [], ...inner]: NonNullable<DialectSpec['seedAt']>, seed: string): Buffer | null {
  const cut = cutOut(body, spellings, start)
  const [[name = '', value] = [spellings[0], undefined], ...more] = cut.values
  if (more.length > 0) return null
  if (value === undefined || body.toString('utf8', value.start, value.end) === 'null')
    return joined(body, cut, new Map([[name, writtenAt(inner, seed)]]))
  if (inner.length === 0 || !isObjectAt(body, value.start)) return null
  const within = seeded(body, value.start, inner, seed)
  return within === null ? null : joined(body, cut, new Map([[name, within]]))
}

const writtenAt = (inner: NonNullable<DialectSpec['seedAt']>, seed: string): string =>
  inner.reduceRight((text, [name]) => `{${JSON.stringify(name)}:${text}}`, seed)
