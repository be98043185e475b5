/** Who may go on: tokens, the evaluation token, page keys. Everything but `/healthz` is closed when authentication is on. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { HEADER, PAGE_KEY_CONTEXT, unauthorized } from '../contract/index.ts'
import { decodeHeader } from './scope.ts'

/** What a route lets in. 'page' also takes a page key, 'evaluation' also the evaluation token, 'open' anyone. */
export type Gate = 'open' | 'service' | 'evaluation' | 'page'

/** Whose request it is. Only who presented a service token is given page keys. */
export type Visitor = { readonly kind: 'anyone' | 'evaluation' | 'page' } | { readonly kind: 'service'; readonly token: string }

export interface Knock {
  readonly query: string
  readonly authorization: string | undefined
  readonly apiKey: string | undefined
  /** As it came: only a page key needs to know what it says. */
  readonly scenarioHeader: string | undefined
}

export class Keys {
  readonly #digests: readonly Buffer[]
  readonly #evaluationDigest: Buffer

  constructor(tokens: readonly string[], evaluationToken: string) {
    this.#digests = tokens.map(digest)
    this.#evaluationDigest = digest(evaluationToken)
  }

  get isRequired(): boolean {
    return this.#digests.length > 0
  }

  /** Lets the visitor in or throws. A null gate is a route that does not exist: it is as closed as any other. */
  admit(gate: Gate | null, knock: Knock): Visitor {
    const query = knock.query === '' ? null : new URLSearchParams(knock.query)
    if (query?.has('token') === true) throw unauthorized('a token in the address is never accepted; send it as an authorization header')
    if (query?.has('key') === true && gate !== 'page') throw unauthorized('a page key opens the two pages of its scenario alone')
    if (gate === 'open' || !this.isRequired) return { kind: 'anyone' }
    const credential = credentialOf(knock)
    return credential === null ? this.#admitPageKey(gate, query, knock.scenarioHeader) : this.#admitToken(gate, credential)
  }

  #admitToken(gate: Gate | null, credential: string): Visitor {
    const presented = digest(credential)
    if (matchesAny(this.#digests, presented)) return { kind: 'service', token: credential }
    if (gate === 'evaluation' && timingSafeEqual(this.#evaluationDigest, presented)) return { kind: 'evaluation' }
    throw unauthorized('the token is not one this service accepts; send one that svc.token or svc.tokens lists')
  }

  #admitPageKey(gate: Gate | null, query: URLSearchParams | null, scenarioHeader: string | undefined): Visitor {
    if (gate === 'page' && query !== null && this.#holdsPageKey(query, scenarioHeader)) return { kind: 'page' }
    if (gate === 'page' && query?.has('key') === true)
      throw unauthorized('the key in this address opens no page of this scenario; ask whoever sent the link for a new one')
    throw unauthorized('send the service token as "authorization: Bearer <token>" or as x-api-key')
  }

  /** The key opens the pages of the one scenario it was made for, whatever a header may say. */
  #holdsPageKey(query: URLSearchParams, scenarioHeader: string | undefined): boolean {
    const scenario = query.get('scenario')?.trim() ?? ''
    const key = query.get('key') ?? ''
    const other = decodeHeader(scenarioHeader ?? '').trim()
    if (scenario === '' || key === '' || (other !== '' && other !== scenario)) return false
    const presented = digest(key)
    return matchesAny(
      this.#digests.map((token) => digest(pageKeyOf(token, scenario))),
      presented,
    )
  }
}

/** The query a page's path carries: its scenario, and the key when a service token was presented. */
export function pageQuery(visitor: Visitor, scenario: string): string {
  const query = new URLSearchParams({ scenario })
  if (visitor.kind === 'service') query.set('key', pageKeyOf(digest(visitor.token), scenario))
  return query.toString()
}

/** Derived from the token's digest, so that a key never gives the token away. */
function pageKeyOf(tokenDigest: Buffer, scenario: string): string {
  return createHmac('sha256', tokenDigest).update(`${PAGE_KEY_CONTEXT}${scenario}`).digest('hex')
}

/** A present Authorization header alone is judged; only without one does x-api-key count. */
function credentialOf({ authorization, apiKey }: Knock): string | null {
  if (authorization === undefined) return apiKey === undefined || apiKey === '' ? null : apiKey
  const [, credential] = /^bearer +(.+)$/i.exec(authorization.trim()) ?? []
  if (credential === undefined) throw unauthorized('the authorization header must be "Bearer <token>"')
  return credential
}

/** All of them, every time: how long it takes says nothing about which one is close. */
function matchesAny(digests: readonly Buffer[], presented: Buffer): boolean {
  let isMatch = false
  for (const known of digests) if (timingSafeEqual(known, presented)) isMatch = true
  return isMatch
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

export function knockOf(query: string, headers: IncomingHttpHeaders): Knock {
  const { authorization } = headers
  return { query, authorization, apiKey: single(headers['x-api-key']), scenarioHeader: single(headers[HEADER.scenario]) }
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}
