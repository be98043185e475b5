/** Reading a field out of JSON. The bare model takes the first field of that name, wherever it stands. */
import type { Json } from '../../../../src/contract/index.ts'
import { drawInteger, drawOne } from '../draw.ts'
import { isList, isObject, parsed, written } from '../../../../src/dialects/index.ts'
import { isDeeperThan } from '../json.ts'
import { makeTasks } from './family.ts'
import type { Family, Problem } from './family.ts'

const FIELD = /\b(?:field|value|key|property|path)\b[^"'`\n]{0,60}?["'`]?([A-Za-z_][\w.-]{0,200}\w)["'`]?\s+(?:in|of|from|at)\b/i
const DEPTH_MAX = 32

export const jsonField: Family = {
  name: 'json-field',
  topic: /json|\bfields?\b/i,
  lessons: ['json-path'],
  read,
  tasks: () =>
    makeTasks('json-field', (seed) => {
      const names = ['ada', 'grace', 'linus', 'edsger', 'barbara', 'alan'] as const
      const [outer, inner] = [drawOne(names, seed, 'outer'), drawOne(['ottawa', 'lagos', 'quito', 'oslo', 'hanoi'], seed, 'inner')]
      const value = { name: outer, count: drawInteger(10, 99, seed, 'n'), owner: { name: `${outer}-team`, home: { name: inner } } }
      const path = drawOne(['owner.home.name', 'owner.name'], seed, 'path')
      const answer = path === 'owner.name' ? `${outer}-team` : inner
      return { prompt: `Give the value of the field "${path}" in this JSON: ${JSON.stringify(value)}`, answer }
    }),
}

function read(text: string): Problem | null {
  const from = text.indexOf('{')
  const to = text.lastIndexOf('}')
  const path = FIELD.exec(text.slice(0, from === -1 ? undefined : from) + text.slice(to + 1))?.[1]
  const value = from === -1 ? undefined : parsed(text.slice(from, to + 1))
  if (path === undefined || value === undefined || isDeeperThan(value, DEPTH_MAX)) return null
  const names = path.split('.')
  const right = follow(value, names)
  if (right === undefined) return null
  const first = firstNamed(value, names.at(-1) ?? '')
  const slip = first === undefined || written(first) === written(right) ? Object.values(isObject(value) ? value : {})[0] : first
  const wrong = written(slip ?? null)
  return { right: written(right), slips: wrong === written(right) ? [] : [{ lesson: 'json-path', wrong }] }
}

function follow(value: Json, names: readonly string[]): Json | undefined {
  let at: Json | undefined = value
  for (const name of names) {
    if (isList(at)) at = at[Number(name)]
    else at = isObject(at) ? at[name] : undefined
  }
  return at
}

function firstNamed(value: Json, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (isObject(value) && value[name] !== undefined) return value[name]
  for (const member of Object.values<Json>(value)) {
    const found = firstNamed(member, name)
    if (found !== undefined) return found
  }
  return undefined
}
