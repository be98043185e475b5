/** The body of a call as it is forwarded: built from the fields that its format is known to have, for the model of the episode. */
import { isObject, type Json, type JsonObject } from '../../../../src/contract/index.ts'
import { chat, countTokens, messages, responses } from './formats.ts'
import type { Drop, Shape } from './shape.ts'

interface Format {
  readonly shape: Shape
  /** Set whatever the agent says. */
  readonly fixed: JsonObject
  /** The fields that limit an answer. */
  readonly limits: readonly string[]
}

/** By the route. Where `store` is missing, a provider would keep the conversation. */
const FORMATS: Readonly<Record<string, Format>> = {
  '/v1/chat/completions': { shape: chat, fixed: {}, limits: ['max_completion_tokens', 'max_tokens'] },
  '/v1/responses': { shape: responses, fixed: { store: false }, limits: ['max_output_tokens'] },
  '/v1/messages': { shape: messages, fixed: {}, limits: ['max_tokens'] },
  '/v1/messages/count_tokens': { shape: countTokens, fixed: {}, limits: [] },
}

/** The query that Claude Code adds. */
const QUERY = '?beta=true'

/** The route of a call as it is forwarded; null where it is none of a model. */
export function routeOf(url: string): string | null {
  const path = url.endsWith(QUERY) ? url.slice(0, -QUERY.length) : url
  return Object.hasOwn(FORMATS, path) ? path : null
}

export interface Built {
  readonly text: string
  /** How many tokens its answer may have; null where it does not say. */
  readonly outputTokensMax: number | null
}

/** Null for a body that is no JSON object. A member that is there twice counts once, as the last one says. */
export function buildBody(route: string, given: string, model: (named: string | null) => string | null, drop: Drop): Built | null {
  const format = FORMATS[route]
  const body = parsed(given)
  if (format === undefined || !isObject(body)) return null
  const { model: named, ...others } = body
  const built = format.shape(others, '', drop)
  if (!isObject(built)) return null
  const pinned = model(typeof named === 'string' ? named : null)
  if (typeof named === 'string' && named !== pinned) drop('model')
  const limits = format.limits.map((name) => built[name]).filter((limit) => typeof limit === 'number')
  return {
    text: JSON.stringify({ ...(pinned !== null && { model: pinned }), ...built, ...format.fixed }),
    outputTokensMax: limits.length === 0 ? null : Math.max(...limits),
  }
}

function parsed(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** Features of Anthropic's that change how the model itself answers. Those that fetch, run or store something are not among them. */
const BETAS: ReadonlySet<string> = new Set([
  'claude-code-20250219',
  'effort-2025-11-24',
  'extended-cache-ttl-2025-04-11',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'prompt-caching-2024-07-31',
  'structured-outputs-2025-11-13',
  'token-counting-2024-11-01',
  'token-efficient-tools-2025-02-19',
])

const VERSION = /^\d{4}-\d{2}-\d{2}$/

/** The headers of a call as they are forwarded, besides those of its framing. */
export function buildHeaders(given: Readonly<Record<string, string | string[] | undefined>>, drop: Drop): Record<string, string> {
  const version = given['anthropic-version']
  const betas = [given['anthropic-beta'] ?? []].flat().flatMap((value) => value.split(',').map((name) => name.trim()))
  for (const name of betas) if (!BETAS.has(name)) drop(`anthropic-beta (${name})`)
  const known = betas.filter((name) => BETAS.has(name))
  return {
    'content-type': 'application/json',
    ...(typeof version === 'string' && VERSION.test(version) && { 'anthropic-version': version }),
    ...(known.length > 0 && { 'anthropic-beta': known.join(',') }),
  }
}
