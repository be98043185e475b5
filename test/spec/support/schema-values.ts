/** Arbitrary values for a JSON schema: mostly valid, or often invalid when `careless`. */
import * as fc from 'fast-check'
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { problemsOf, resolve, type Reading } from './json-schema.ts'

const WORDS = [
  'a',
  'first',
  'A_B',
  '1-2',
  'two words',
  ' padded ',
  'é🙂',
  '',
  ' ',
  '\n',
  'inference',
  'auto',
  ` ${'🙂'.repeat(200)} `,
  '🙂'.repeat(201),
]
/** Formats have no pattern here, so only clearly valid addresses are used. */
const ADDRESSES = ['http://127.0.0.1:9', 'https://model.example/base']

const junk: fc.Arbitrary<Json> = fc.constantFrom<Json[]>(null, true, 0, -1.5, '', 'x', [], ['x'], {}, { x: 1 })

export function valuesOf(reading: Reading, schema: Json | undefined, isCareless: boolean): fc.Arbitrary<Json> {
  const asked = askedFor(reading, isObject(schema) ? schema : {}, isCareless)
  if (isCareless) return fc.oneof({ weight: 5, arbitrary: asked }, { weight: 1, arbitrary: junk })
  return asked.filter((value) => problemsOf(reading, schema, value).length === 0)
}

function askedFor(reading: Reading, schema: JsonObject, isCareless: boolean): fc.Arbitrary<Json> {
  const within = (part: Json | undefined): fc.Arbitrary<Json> => valuesOf(reading, part, isCareless)
  const { $ref, type, enum: all, properties } = schema
  if (typeof $ref === 'string') return within(resolve(reading.root, $ref))
  if ('const' in schema) return fc.constant(schema['const'] ?? null)
  if (Array.isArray(all)) return fc.constantFrom<Json[]>(...all)
  if (isObject(properties)) return members(schema, properties, within, isCareless)
  const branches = schema['oneOf'] ?? schema['anyOf']
  if (Array.isArray(branches)) return fc.oneof(...branches.map(within))
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => within({ ...schema, type: one })))
  if (type === 'string') return texts(reading, schema, isCareless)
  if (type === 'number') return fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  if (type === 'integer') return wholes(schema, isCareless)
  if (type === 'boolean') return fc.boolean()
  if (type === 'array')
    return fc.array(within(schema['items']), { minLength: isCareless ? 0 : Number(schema['minItems'] ?? 0), maxLength: 3 })
  return type === undefined || type === 'object' ? fc.dictionary(fc.constantFrom('x', 'y'), junk, { maxKeys: 2 }) : fc.constant(null)
}

function wholes({ minimum, maximum }: JsonObject, isCareless: boolean): fc.Arbitrary<number> {
  const bounds = { ...(typeof minimum === 'number' && { min: minimum }), ...(typeof maximum === 'number' && { max: maximum }) }
  return isCareless ? fc.integer() : fc.integer(bounds)
}

/** Required members are present unless careless; others may be. */
function members(
  schema: JsonObject,
  properties: JsonObject,
  within: (part: Json | undefined) => fc.Arbitrary<Json>,
  isCareless: boolean,
): fc.Arbitrary<Json> {
  const { required } = schema
  const mustHave = Array.isArray(required) ? required.map(String) : []
  const known = fc.record(Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, within(part)])), {
    requiredKeys: mustHave,
  })
  if (!isCareless) return known
  const lost = fc.constantFrom('', ...mustHave)
  const more = fc.dictionary(fc.constantFrom('x', 'y'), junk, { maxKeys: 1 })
  return fc.tuple(known, lost, more).map(([some, name, others]) => {
    const { [name]: _, ...rest } = some
    return { ...rest, ...others }
  })
}

/** Includes the maximum length and one more, in characters of two UTF-16 units. */
function texts(reading: Reading, schema: JsonObject, isCareless: boolean): fc.Arbitrary<string> {
  if (schema['format'] === 'uri') return fc.constantFrom(...ADDRESSES)
  const most = Number(schema['maxLength'] ?? 0)
  const words = [...WORDS, '🙂'.repeat(most), '🙂'.repeat(most + 1)]
  return fc.constantFrom(...words.filter((word) => isCareless || problemsOf(reading, schema, word).length === 0))
}
