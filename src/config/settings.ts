/** Checks given values against the schema: settings with all defaults, or the problems. */
import type * as z from 'zod'
import type { Environment } from './interpolate.ts'
import { place, type GivenValue, type ValueOrigin } from './problem.ts'
import { schema } from './schema.ts'

/** Code that zod would write for each object pays only when it runs often. */
const ONCE = { jitless: true } as const

/** The settings are null when nothing usable is left without the refused keys; rules across keys ignore those. */
export function readSettings(given: ReadonlyMap<string, GivenValue>, environment: Environment, fileName: string) {
  const gateway = fillGatewayKey(given, environment, fileName)
  const parsed = schema.safeParse(treeOf(gateway.given), ONCE)
  if (parsed.success) return { settings: parsed.data, given: gateway.given, problems: gateway.problems, refused: new Set<string>() }
  const { issues } = parsed.error
  const problems = issues.map((issue) => problemOf(issue, gateway.given, fileName))
  const refused = new Set(issues.map((issue) => keyOf(issue)))
  const dropped = [...refused].map((key) => (gateway.given.has(key) ? key : parentOf(key)))
  const left = new Map([...gateway.given].filter(([key]) => !dropped.some((section) => isWithin(key, section))))
  const again = schema.safeParse(treeOf(left), ONCE)
  return { settings: again.success ? again.data : null, given: gateway.given, problems: [...gateway.problems, ...problems], refused }
}

/** The gateway's key may come from a variable that the user names. */
function fillGatewayKey(given: ReadonlyMap<string, GivenValue>, environment: Environment, fileName: string) {
  const named = given.get('inference.gateway.api_key_env')
  if (named === undefined || typeof named.value !== 'string') return { given, problems: [] }
  const refuse = (problem: string) => ({ given, problems: [`${place(named.origin, fileName)}: inference.gateway.api_key_env ${problem}`] })
  if (given.has('inference.gateway.api_key')) return refuse('and inference.gateway.api_key are both set; keep one')
  const value = environment[named.value]
  if (value === undefined || value === '') return refuse('names an environment variable that is not set; set it, or name another')
  const key: GivenValue = { path: ['inference', 'gateway', 'api_key'], value, origin: `environment ${named.value}` }
  return { given: new Map(given).set('inference.gateway.api_key', key), problems: [] }
}

interface Tree {
  [name: string]: unknown
}

/** Objects without a prototype, so that no key of a file can reach one. */
function treeOf(given: ReadonlyMap<string, GivenValue>): Tree {
  const root: Tree = Object.create(null)
  for (const { path, value } of given.values()) {
    let node = root
    for (const name of path.slice(0, -1)) node = branch(node, name)
    const last = path.at(-1) ?? ''
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && isTree(node[last])) continue
    node[last] = value
  }
  return root
}

function branch(node: Tree, name: string): Tree {
  const existing = node[name]
  if (isTree(existing)) return existing
  const made: Tree = Object.create(null)
  node[name] = made
  return made
}

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Names the key and the rule, and only the type of a wrong value: it may be a misplaced secret. */
function problemOf(issue: z.core.$ZodIssue, given: ReadonlyMap<string, GivenValue>, fileName: string): string {
  const key = keyOf(issue)
  const where = place(originAt(key, given), fileName)
  if (issue.code === 'invalid_key')
    return `${where}: ${key}: the name of ${NAMED[key.split('.', 1)[0] ?? ''] ?? 'a key'} is made of letters, digits, - and _`
  const value = given.get(key)?.value
  if (value === undefined && issue.code === 'invalid_type') return `${where}: ${key} is missing`
  const found = issue.code === 'invalid_type' && typeof issue.path.at(-1) === 'string' ? `, not ${kindWord(value)}` : ''
  const item = typeof issue.path.at(-1) === 'number' ? `[${String(issue.path.at(-1))}]` : ''
  return `${where}: ${key}${item} ${issue.message}${found}`
}

/** What users name, by section. */
const NAMED: Readonly<Record<string, string>> = {
  recipes: 'a recipe',
  webhooks: 'a webhook',
  traces: 'a header',
  storage: 'a setting',
  inference: 'an upstream',
}

const keyOf = (issue: z.core.$ZodIssue): string => issue.path.filter((part) => typeof part === 'string').join('.')

function originAt(key: string, given: ReadonlyMap<string, GivenValue>): ValueOrigin {
  for (let around = key; around !== ''; around = parentOf(around)) {
    const hit = [...given].find(([other]) => isWithin(other, around))
    if (hit !== undefined) return hit[1].origin
  }
  return 'default'
}

const parentOf = (key: string): string => key.slice(0, Math.max(0, key.lastIndexOf('.')))
const isWithin = (key: string, section: string): boolean => key === section || key.startsWith(`${section}.`)

function kindWord(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  const words: Readonly<Record<string, string>> = { string: 'text', number: 'a number', boolean: 'true or false' }
  return words[typeof value] ?? 'a section'
}
