/** The smallest JSON a schema accepts, with the answer put where the schema has room for one. */
import type { Json, JsonObject } from '../../../src/contract/index.ts'
import { isObject, listOf, objectOf, textOf } from '../../../src/dialects/index.ts'

const DEPTH_MAX = 16
const ANSWER_FIELD = /answer|result|text|title|content|message|response|output|value|summary|reply/i

export const structured = (schema: JsonObject | null, answer: string): string =>
  JSON.stringify(schema === null ? { answer } : sample(schema, answer))

export function sample(schema: JsonObject, answer: string): Json {
  return fill({ root: schema, answer }, schema, 0)
}

interface Filling {
  readonly root: JsonObject
  readonly answer: string
}

function fill(filling: Filling, given: JsonObject, depth: number): Json {
  const schema = resolve(filling.root, given)
  if (schema['const'] !== undefined) return schema['const']
  const [choice] = listOf(schema['enum'])
  if (choice !== undefined) return listOf(schema['enum']).find((one) => one === filling.answer) ?? choice
  const [branch] = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => listOf(schema[name]).filter(isObject))
  if (branch !== undefined && depth < DEPTH_MAX) return fill(filling, branch, depth + 1)
  return fillType(filling, schema, depth)
}

function fillType(filling: Filling, schema: JsonObject, depth: number): Json {
  const type = Array.isArray(schema['type']) ? textOf(listOf(schema['type'])[0]) : textOf(schema['type'])
  if (type === 'object' || (type === '' && isObject(schema['properties']))) return fillObject(filling, schema, depth)
  if (type === 'array') return fillList(filling, schema, depth)
  if (type === 'boolean') return false
  if (type === 'null') return null
  if (type === 'integer' || type === 'number') return fillNumber(filling.answer, schema, type)
  return fillString(filling.answer, schema)
}

function fillObject(filling: Filling, schema: JsonObject, depth: number): Json {
  if (depth >= DEPTH_MAX) return {}
  const properties = objectOf(schema['properties'])
  const required = new Set(listOf(schema['required']))
  const members = Object.entries(properties).filter(([name]) => required.has(name))
  const wanted = members.some(([name]) => ANSWER_FIELD.test(name))
  // Where no field is called an answer, every text field may as well hold it.
  return Object.fromEntries(
    members.map(([name, member]) => {
      const answer = !wanted || ANSWER_FIELD.test(name) ? filling.answer : ''
      return [name, fill({ ...filling, answer }, objectOf(member), depth + 1)]
    }),
  )
}

function fillList(filling: Filling, schema: JsonObject, depth: number): Json {
  const least = typeof schema['minItems'] === 'number' ? Math.min(schema['minItems'], DEPTH_MAX) : 0
  return depth >= DEPTH_MAX ? [] : Array.from({ length: least }, () => fill(filling, objectOf(schema['items']), depth + 1))
}

function fillNumber(answer: string, schema: JsonObject, type: string): number {
  const least =
    typeof schema['minimum'] === 'number'
      ? schema['minimum']
      : typeof schema['exclusiveMinimum'] === 'number'
        ? schema['exclusiveMinimum'] + 1
        : 0
  const number = answer.trim() === '' ? Number.NaN : Number(answer)
  const isFit = Number.isFinite(number) && number >= least && (type === 'number' || Number.isInteger(number))
  return isFit ? number : type === 'integer' ? Math.ceil(least) : least
}

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  time: '00:00:00Z',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
}

function fillString(answer: string, schema: JsonObject): string {
  const format = FORMATS[textOf(schema['format'])]
  if (format !== undefined) return format
  const least = typeof schema['minLength'] === 'number' ? Math.min(schema['minLength'], 1000) : 0
  const most = typeof schema['maxLength'] === 'number' ? schema['maxLength'] : Number.POSITIVE_INFINITY
  return answer.slice(0, most).padEnd(least, '-')
}

/** Follows references inside the same schema; one that leads nowhere accepts anything. */
function resolve(root: JsonObject, schema: JsonObject): JsonObject {
  let at = schema
  for (let hops = 0; typeof at['$ref'] === 'string' && hops < DEPTH_MAX; hops += 1) {
    const steps = at['$ref']
      .replace(/^#\/?/, '')
      .split('/')
      .filter((step) => step !== '')
    at = steps.reduce<JsonObject>((inside, step) => objectOf(inside[step.replaceAll('~1', '/').replaceAll('~0', '~')]), root)
  }
  return at
}
