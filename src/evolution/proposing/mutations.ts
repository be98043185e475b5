/** Turns a model's reply into mutations of the tree. An invalid item is dropped with a reason; the others stay. */
import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { ENTRY_NAME_CHARACTERS_MAX, isObject } from '../../contract/index.ts'
import type { Adapter, Entry, Json, JsonObject, Mutation } from '../../contract/index.ts'
import { isReserved } from '../../harness/index.ts'
import { screenText } from '../../kit/index.ts'
import { kindProblem } from './kinds.ts'
import type { ProposalReply } from './reply.ts'

const HASH_CHARACTERS = 12
/** Kinds that need no name: without an id they get one from a hash of their config. */
const NAMELESS = new Set(['rules', 'config'])

export interface ReplyMutations {
  readonly mutations: readonly Mutation[]
  /** One sentence per dropped item. It never quotes refused text. */
  readonly dropped: readonly string[]
}

/** Removals come first, so that an id may change its kind. */
export function mutationsOf(reply: ProposalReply, entries: readonly Entry[], adapter: Adapter): ReplyMutations {
  const tree = new Map(entries.map((entry) => [entry.id, entry]))
  const taken = new Set<string>()
  const mutations: Mutation[] = []
  const dropped: string[] = []
  for (const [index, id] of reply.removes.entries()) {
    const removed = removal(tree.get(id), adapter)
    if (typeof removed === 'string') dropped.push(`removal ${index + 1}: ${removed}`)
    else if (tree.delete(id)) mutations.push(removed)
  }
  for (const [index, wanted] of reply.entries.entries()) {
    const change = changeOf(wanted, tree, taken, adapter)
    if (typeof change === 'string') dropped.push(`entry ${index + 1}: ${change}`)
    else {
      taken.add(change.id)
      mutations.push(change)
    }
  }
  return { mutations, dropped }
}

function removal(entry: Entry | undefined, adapter: Adapter): Mutation | string {
  if (entry === undefined) return 'there is no entry of that id'
  if (isReserved(entry.id)) return `${entry.id} is reserved for the service`
  return kindProblem(adapter, entry.name, entry.config) ?? { op: 'remove', id: entry.id }
}

type Tree = ReadonlyMap<string, Entry>

function changeOf(wanted: JsonObject, tree: Tree, taken: ReadonlySet<string>, adapter: Adapter): Mutation | string {
  const { name: kind, config, disabled } = wanted
  if (typeof kind !== 'string' || !isObject(config)) return 'it must have a name, which is its kind, and a config, which is an object'
  const problem = kindProblem(adapter, kind, config) ?? contentProblem(config)
  if (problem !== null) return problem
  const id = idOf(wanted, kind, config, tree)
  if (id === null) return 'its id must be letters, digits, _ and -'
  if (isReserved(id)) return `${id} is reserved for the service`
  if (taken.has(id)) return `the id ${id} stands in this reply twice`
  const old = tree.get(id)
  const state = typeof disabled === 'boolean' ? { disabled } : {}
  if (old === undefined) return { op: 'create', id, options: { name: kind, config, ...state } }
  if (old.name !== kind) return `the id ${id} is held by an entry of kind ${old.name}`
  const isSame = isDeepStrictEqual(old.config, config) && (disabled ?? old.disabled ?? false) === (old.disabled ?? false)
  return isSame ? `${id} is in the harness already, unchanged` : { op: 'update', id, options: { config, ...state } }
}

/** Iterative, since a config may be nested deeper than the call stack. */
function contentProblem(config: JsonObject): string | null {
  const waiting: Json[] = [config]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === 'string' && screenText(value) === 'override_in_text')
      return 'its text holds words that override instructions; leave them out'
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, '__proto__')) return 'its config must not have a field __proto__'
    for (const member of Object.values(value)) waiting.push(member)
  }
  return null
}

/** An existing id unchanged, else one of letters, digits, _ and -. Null when no character is left. */
function idOf({ id }: JsonObject, kind: string, config: JsonObject, tree: Tree): string | null {
  const isNameless = NAMELESS.has(kind)
  const given = typeof id === 'string' ? id : typeof config['name'] === 'string' ? config['name'] : ''
  if (tree.get(given)?.name === kind) return given
  const plain = given
    .slice(0, ENTRY_NAME_CHARACTERS_MAX)
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replaceAll(/^[_-]+|-+$/g, '')
  const isHeld = tree.has(plain) && tree.get(plain)?.name !== kind
  if (isNameless && (plain === '' || isHeld)) return `${kind}-${hash('sha256', JSON.stringify(config)).slice(0, HASH_CHARACTERS)}`
  return plain === '' ? null : plain
}
