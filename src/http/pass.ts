/** Who may go on: tokens, the evaluation token, page keys. Everything but `/healthz` is closed when authentication is on. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { HEADER, PAGE_KEY_CONTEXT, unauthorized } from '../contract/index.ts'
import { decodeHeader } from './scope.ts'

/** What a route lets in. 'page' also takes a page key, 'evaluation' also the evaluation token, 'open' anyone. */
export type Gate = 'open' | 'service' | 'evaluation' | 'page'

export interface Knock {
  readonly query: string
  readonly authorization: string | undefined
  readonly apiKey: string | undefined
  /** Empty when there is none. */
  readonly scenarioHeader: string
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
  admit(gate: Gate | null, knock: Knock): void {
    const query = knock.query === '' ? null : new URLSearchParams(knock.query)
    if (query?.has('token') === true) throw unauthorized('a token in the address is never accepted; send it as an authorization header')
    if (query?.has('key') === true && gate !== 'page') throw unauthorized('a page key opens the two pages of its scenario alone')
    if (gate === 'open' || !this.isRequired) return
    const credential = credentialOf(knock)
    if (credential === null) this.#admitPageKey(gate, query, knock.scenarioHeader)
    else this.#admitToken(gate, credential)
  }

  #admitToken(gate: Gate | null, credential: string): void {
    const presented = digest(credential)
    const isEvaluation = gate === 'evaluation' && timingSafeEqual(this.#evaluationDigest, presented)
    if (!matchesAny(this.#digests, presented) && !isEvaluation) throw unauthorized('the token is not one this service accepts')
  }

  #admitPageKey(gate: Gate | null, query: URLSearchParams | null, scenarioHeader: string): void {
    if (gate === 'page' && query !== null && this.#holdsPageKey(query, scenarioHeader)) return
    throw unauthorized('send the service token as "authorization: Bearer <token>" or as x-api-key')
  }

  /** The key opens the pages of the one scenario it was made for, whatever a header may say. */
  #holdsPageKey(query: URLSearchParams, scenarioHeader: string): boolean {
    const scenario = query.get('scenario')?.trim() ?? ''
    const key = query.get('key') ?? ''
    const other = scenarioHeader.trim()
    if (scenario === '' || key === '' || (other !== '' && other !== scenario)) return false
    const presented = digest(key)
    return matchesAny(
      this.#digests.map((token) => digest(pageKeyOf(token, scenario))),
      presented,
    )
  }
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

export function knockOf(query: string, header: (name: string) => string | undefined): Knock {
  return {
    query,
    authorization: header('authorization'),
    apiKey: header('x-api-key'),
    scenarioHeader: decodeHeader(header(HEADER.scenario) ?? ''),
  }
}
