/** Authentication: service tokens, the evaluation token, page keys. Everything but `/healthz` and the console is closed when it is on. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { HEADER, PAGE_KEY_CONTEXT, unauthorized } from '../contract/index.ts'
import { keyHeaderNames } from '../dialects/index.ts'
import { decodeHeader } from './request-fields.ts'

/** Which credentials a route accepts. 'page' also accepts a page key, 'evaluation' also the evaluation token, 'open' needs none. */
export type Access = 'open' | 'service' | 'evaluation' | 'page'

/** Whose request it is. Only the holder of a service token is given page keys. */
export type Principal = { readonly kind: 'anyone' | 'evaluation' | 'page' } | { readonly kind: 'service'; readonly token: string }

type Credentials = ReturnType<typeof credentialsOf>

export class Authenticator {
  readonly #digests: readonly Buffer[]
  readonly #evaluationDigest: Buffer
  /** Service tokens that were presented before, since a digest costs several microseconds. At most as many as there are tokens. */
  readonly #known = new Map<string, Principal>()

  constructor(tokens: readonly string[], evaluationToken: string) {
    this.#digests = tokens.map(digest)
    this.#evaluationDigest = digest(evaluationToken)
  }

  get isRequired(): boolean {
    return this.#digests.length > 0
  }

  /** Answers with the principal, or throws. An unknown route (null) is as closed as any other. */
  admit(access: Access | null, credentials: Credentials): Principal {
    const query = credentials.query === '' ? null : new URLSearchParams(credentials.query)
    if (query?.has('token') === true) throw unauthorized('a token in the address is never accepted; send it as an authorization header')
    if (query?.has('key') === true && access !== 'page') throw unauthorized('a page key opens the two pages of its scenario alone')
    if (access === 'open' || !this.isRequired) return { kind: 'anyone' }
    const token = tokenIn(credentials)
    return token === null ? this.#admitPageKey(access, query, credentials.scenarioHeader) : this.#admitToken(access, token)
  }

  #admitToken(access: Access | null, token: string): Principal {
    const known = this.#known.get(token)
    if (known !== undefined) return known
    const presented = digest(token)
    if (matchesAny(this.#digests, presented)) {
      const principal: Principal = { kind: 'service', token }
      this.#known.set(token, principal)
      return principal
    }
    if (access === 'evaluation' && timingSafeEqual(this.#evaluationDigest, presented)) return { kind: 'evaluation' }
    throw unauthorized('the token is not one this service accepts; send one that svc.token or svc.tokens lists')
  }

  #admitPageKey(access: Access | null, query: URLSearchParams | null, scenarioHeader: string | undefined): Principal {
    if (access === 'page' && query !== null && this.#holdsPageKey(query, scenarioHeader)) return { kind: 'page' }
    if (access === 'page' && query?.has('key') === true)
      throw unauthorized('the key in this address opens no page of this scenario; ask for a new link')
    throw unauthorized('send the service token as "authorization: Bearer <token>" or as x-api-key')
  }

  /** A key opens the pages of its own scenario alone, whatever a header says. */
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

/** The query of a page's path: its scenario, and the key when a service token was presented. */
export function pageQuery(principal: Principal, scenario: string): string {
  const query = new URLSearchParams({ scenario })
  if (principal.kind === 'service') query.set('key', pageKeyOf(digest(principal.token), scenario))
  return query.toString()
}

/** Derived from the token's digest, so that a key never gives the token away. */
function pageKeyOf(tokenDigest: Buffer, scenario: string): string {
  return createHmac('sha256', tokenDigest).update(`${PAGE_KEY_CONTEXT}${scenario}`).digest('hex')
}

/** A present Authorization header alone is judged; only without one does the key header of a format count, such as x-api-key. */
function tokenIn({ authorization, apiKey }: Credentials): string | null {
  if (authorization === undefined) return apiKey === undefined || apiKey === '' ? null : apiKey
  const [, credential] = /^bearer +(.+)$/i.exec(authorization.trim()) ?? []
  if (credential === undefined) throw unauthorized('the authorization header must be "Bearer <token>"')
  return credential
}

/** Compares with every token, so that the time taken says nothing about which one is close. */
function matchesAny(digests: readonly Buffer[], presented: Buffer): boolean {
  let isMatch = false
  for (const known of digests) if (timingSafeEqual(known, presented)) isMatch = true
  return isMatch
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

export function credentialsOf(query: string, headers: IncomingHttpHeaders) {
  const { authorization } = headers
  return {
    query,
    authorization,
    apiKey: authorization === undefined ? keyIn(headers) : undefined,
    /** Undecoded, since only a page key needs its text. */
    scenarioHeader: single(headers[HEADER.scenario]),
  }
}

function keyIn(headers: IncomingHttpHeaders): string | undefined {
  const name = keyHeaderNames.find((known) => headers[known] !== undefined)
  return name === undefined ? undefined : single(headers[name])
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}
