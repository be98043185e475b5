/** Builds JSON again from the members that a shape knows. Whatever else is there is left out, and said. */
import { isObject, type Json, type JsonObject } from '../../../../src/contract/index.ts'
import { isDeeperThan } from '../../../../src/kit/index.ts'

/** Undefined: left out. */
export type Shape = (value: Json, at: string, drop: Drop) => Json | undefined
/** Is told where something was left out. */
export type Drop = (at: string) => undefined

const DEPTH_MAX = 64
const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

/** A value that a test accepts. */
const only =
  (isKnown: (value: Json) => boolean): Shape =>
  (value, at, drop) =>
    isKnown(value) ? value : drop(at)

export const text: Shape = only((value) => typeof value === 'string')
export const flag: Shape = only((value) => typeof value === 'boolean')
/** JSON has numbers that no double holds; they arrive as infinite. */
export const number: Shape = only((value) => typeof value === 'number' && Number.isFinite(value))
export const count: Shape = only((value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0)
export const word = (...words: readonly Json[]): Shape => only((value) => words.includes(value))
/** Data in the text itself; an address would be fetched by the provider. */
export const inline: Shape = only((value) => typeof value === 'string' && /^data:[\w.+-]+\/[\w.+-]+;base64,/.test(value.slice(0, 128)))
/** Data without a prefix: an address has a colon. */
export const base64: Shape = only((value) => typeof value === 'string' && /^[\w+/=\s-]*$/.test(value))

/** Any JSON that is not too deep: schemas and inputs of the agent's own tools, which the provider does not act on. */
export const plain: Shape = (value, at, drop) => (isDeeperThan(value, DEPTH_MAX) ? drop(at) : value)

export const list =
  (item: Shape): Shape =>
  (value, at, drop) =>
    isList(value) ? value.flatMap((each) => item(each, `${at}[]`, drop) ?? []) : drop(at)

/** An object; without one of the members that it needs it is left out as a whole. */
export const members =
  (known: Readonly<Record<string, Shape>>, needed: readonly string[] = []): Shape =>
  (value, at, drop) => {
    if (!isObject(value)) return drop(at)
    const built = build(value, known, at, drop)
    return needed.every((name) => Object.hasOwn(built, name)) ? built : drop(at)
  }

function build(value: JsonObject, known: Readonly<Record<string, Shape>>, at: string, drop: Drop): JsonObject {
  const built: Record<string, Json> = {}
  for (const [name, member] of Object.entries(value)) {
    const path = at === '' ? name : `${at}.${name}`
    const shape = Object.hasOwn(known, name) ? known[name] : undefined
    if (shape === undefined) drop(path)
    // Clients write null for what they do not set.
    const kept = shape === undefined || member === null ? undefined : shape(member, path, drop)
    if (kept !== undefined) built[name] = kept
  }
  return built
}

/** An object whose member `type` says which; `fallback` is the type of one that has none. */
export const typed =
  (kinds: Readonly<Record<string, Shape>>, fallback = ''): Shape =>
  (value, at, drop) => {
    if (!isObject(value)) return drop(at)
    const type = typeof value['type'] === 'string' ? value['type'] : fallback
    const shape = Object.hasOwn(kinds, type) ? kinds[type] : undefined
    return shape === undefined ? drop(`${at} (${type})`) : shape(value, at, drop)
  }

/** A text, or else this. */
export const textOr =
  (other: Shape): Shape =>
  (value, at, drop) =>
    typeof value === 'string' ? value : other(value, at, drop)
