/** A trace collector that strictly validates OTLP over HTTP in JSON. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { expect } from 'vitest'
import { closeServer, listenOnLoopback } from './listen.ts'

export interface CollectedSpan {
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly traceState?: string
  readonly name: string
  readonly kind: number
  readonly begun: bigint
  readonly ended: bigint
  /** 2: it failed. */
  readonly status: { readonly code?: number; readonly message?: string }
  readonly attributes: Readonly<Record<string, unknown>>
}

interface Post {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

type Script = (response: ServerResponse, take: () => void) => void

export type Collector = Awaited<ReturnType<typeof startCollector>>

export const KIND = { internal: 1, server: 2, client: 3 }

export async function startCollector() {
  /** All requests, accepted or not. */
  const posts: Post[] = []
  /** All accepted spans. */
  const spans: CollectedSpan[] = []
  let script: Script = takeIt
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const post = { path: request.url ?? '', headers: request.headers, text: Buffer.concat(parts).toString() }
      posts.push(post)
      try {
        script(response, () => void spans.push(...readPost(post)))
      } catch (error) {
        response.writeHead(400).end(String(error))
        throw error
      }
    })
  })
  const port = await listenOnLoopback(server)
  return {
    url: `http://127.0.0.1:${port}`,
    posts,
    spans,
    /** Overrides the answer of later requests; `take` accepts them. */
    answer: (next: Script) => {
      script = next
    },
    close: () => closeServer(server),
  }
}

function takeIt(response: ServerResponse, take: () => void): void {
  take()
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"partialSuccess":{}}')
}

/** Throws for the first violation of the protocol. */
function readPost({ headers, text }: Pick<Post, 'headers' | 'text'>): readonly CollectedSpan[] {
  expect(headers['content-type']).toBe('application/json')
  expect(text.isWellFormed()).toBe(true)
  const { resourceSpans, ...rest } = members(JSON.parse(text))
  expect(rest).toEqual({})
  return list(resourceSpans).flatMap((one) => {
    const { resource, scopeSpans, ...others } = members(one)
    expect(others).toEqual({})
    const service = words(attributesIn(members(resource)['attributes'])['service.name'], /./)
    return list(scopeSpans).flatMap((scoped) => {
      const { scope, spans, ...more } = members(scoped)
      expect([members(scope)['name'], more]).toEqual(['svc', {}])
      return list(spans).map((span) => readSpan(members(span), service))
    })
  })
}

function readSpan(span: Members, service: string): CollectedSpan {
  const { traceId, spanId, parentSpanId, traceState, name, kind, startTimeUnixNano, endTimeUnixNano, attributes, status, ...rest } = span
  expect(rest).toEqual({})
  expect([1, 2, 3, 4, 5]).toContain(kind)
  const { code, message, ...more } = members(status)
  expect(more).toEqual({})
  if (code !== undefined) expect([1, 2]).toContain(code)
  const [begun, ended] = [BigInt(words(startTimeUnixNano, /^\d{19}$/)), BigInt(words(endTimeUnixNano, /^\d{19}$/))]
  expect(ended >= begun).toBe(true)
  return {
    service,
    traceId: words(traceId, /^[0-9a-f]{32}$/),
    spanId: words(spanId, /^[0-9a-f]{16}$/),
    ...('parentSpanId' in span && { parentSpanId: words(parentSpanId, /^[0-9a-f]{16}$/) }),
    ...('traceState' in span && { traceState: words(traceState, /^[\x20-\x7e]+$/) }),
    name: words(name, /./),
    kind: Number(kind),
    begun,
    ended,
    status: { ...(code !== undefined && { code: Number(code) }), ...(message !== undefined && { message: words(message, /./) }) },
    attributes: attributesIn(attributes),
  }
}

/** By key; none twice. */
function attributesIn(value: unknown): Readonly<Record<string, unknown>> {
  const entries = list(value).map((one) => {
    const { key, value: held, ...rest } = members(one)
    expect(rest).toEqual({})
    return [words(key, /^[\w.]+$/), valueOf(members(held))] as const
  })
  expect(new Set(entries.map(([key]) => key)).size).toBe(entries.length)
  return Object.fromEntries(entries)
}

/** Exactly one of the kinds. */
function valueOf(held: Members): unknown {
  const [[kind, value] = ['', undefined], ...others] = Object.entries(held)
  expect(others).toEqual([])
  if (kind === 'intValue') return BigInt(words(value, /^-?\d{1,19}$/))
  if (kind === 'arrayValue') return list(members(value)['values']).map((one) => valueOf(members(one)))
  const types: Readonly<Record<string, string>> = { stringValue: 'string', doubleValue: 'number', boolValue: 'boolean' }
  expect(typeof value, `${kind} of an attribute`).toBe(types[kind])
  return value
}

type Members = Readonly<Record<string, unknown>>

function members(value: unknown): Members {
  expect(typeof value === 'object' && value !== null && !Array.isArray(value)).toBe(true)
  const object: Members = Object(value)
  return object
}

function list(value: unknown): readonly unknown[] {
  expect(Array.isArray(value)).toBe(true)
  return Array.isArray(value) ? value : []
}

function words(value: unknown, shape: RegExp): string {
  if (typeof value !== 'string') throw new Error('text was expected')
  expect(value).toMatch(shape)
  return value
}
