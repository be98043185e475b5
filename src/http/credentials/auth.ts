/** Authentication: tokens of the configuration and of the store, sign-ins of people, the evaluation token, page keys. Everything but `/healthz` and the console is closed when it is on. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import {
  HEADER,
  hasRight,
  isSignIn,
  LEASE_KEY_PREFIX,
  PAGE_KEY_CONTEXT,
  unauthorized,
  type ClientKey,
  type EpisodeLease,
  type Right,
  type Role,
  type StoredToken,
} from '../../contract/index.ts'
import { keyHeaderNames } from '../../dialects/index.ts'
import type { LimitedToken } from '../../limits/index.ts'
import { lifeOf, type Scenario } from '../../scenarios/index.ts'
import { decodeHeader } from '../request-fields.ts'

/** Which credentials a route accepts. 'page' also accepts a page key, 'evaluation' also the evaluation token, 'open' needs none. */
export type Access = 'open' | 'service' | 'evaluation' | 'page'

/** What a route needs of its caller. */
export interface RouteNeeds {
  readonly access: Access
  /** Null: any token will do. */
  readonly right: Right | null
}

/** Whose request it is. Only the holder of a token is given page keys. A page key has the role of the token that it came from. */
export type Principal = { readonly kind: 'anyone' } | Evaluator | Visitor | TokenHolder

/** The visitor who opens a page by its key. */
interface Visitor {
  readonly kind: 'page'
  readonly role: Role
  /** The life of the scenario that the key was made for. */
  readonly life: string | null
}

/** An episode that calls the model: one of this process, or one that a worker plays under a lease. */
interface Evaluator {
  readonly kind: 'evaluation'
  /** Null: of this process, for any scenario. */
  readonly lease: EpisodeLease | null
}
/** The lease that a key belongs to; null where there is none, or none any more. */
type FindLease = (key: string) => Promise<EpisodeLease | null>

export interface TokenHolder {
  readonly kind: 'service'
  /** Where a token of the configuration is set. */
  readonly name: string
  readonly role: Role
  /** Null: all of them. */
  readonly scenarios: ReadonlySet<string> | null
  /** Null: never. */
  readonly expiresAt: number | null
  /** SHA-256 of the token. */
  readonly digest: Buffer
  /** Page keys of a stored token name it, so that one is looked up among ten thousand. */
  readonly isStored: boolean
  /** The name of the sign-in, whose holder goes by the name of the person; null for a token that is none. */
  readonly signIn: string | null
  /** Whose limits count: tokens of the configuration share names, so a few digits of the digest tell them apart. */
  readonly limited: LimitedToken
}

export interface ConfiguredTokens {
  readonly token: string | null
  readonly tokens: readonly string[]
}

export type Credentials = ReturnType<typeof credentialsOf>

interface AuthenticatorParts {
  /** The name of the cookie that a sign-in is kept in; null where nobody can sign in. */
  readonly cookie?: string | null
  readonly findLease?: FindLease
}

export class Authenticator {
  #configured: readonly TokenHolder[] = []
  readonly #evaluationDigest: Buffer
  readonly #clock: () => number
  readonly #cookie: string | null
  readonly #findLease: FindLease
  /** By the digest as hex: who looks one up by a text that hashes to it knows the token. */
  #stored: ReadonlyMap<string, TokenHolder> = new Map()
  #storedByName: ReadonlyMap<string, TokenHolder> = new Map()
  /** Tokens that were presented before, since a digest costs several microseconds. At most as many as there are tokens. */
  readonly #known = new Map<string, TokenHolder>()

  constructor(
    configured: ConfiguredTokens,
    evaluationToken: string,
    clock: () => number,
    { cookie = null, findLease = async () => null }: AuthenticatorParts = {},
  ) {
    this.configure(configured)
    this.#evaluationDigest = digest(evaluationToken)
    this.#clock = clock
    this.#cookie = cookie
    this.#findLease = findLease
  }

  /** Takes the tokens of the configuration, in place of those before. */
  configure({ token, tokens }: ConfiguredTokens): void {
    const named = [...(token === null ? [] : [['svc.token', token] as const]), ...tokens.map((each) => ['svc.tokens', each] as const)]
    this.#configured = named.map(([name, text]) => configuredHolder(name, text))
    this.#forgetReplaced()
  }

  get isRequired(): boolean {
    return this.#configured.length > 0
  }

  /** Takes the tokens of the store, in place of those before. */
  use(tokens: readonly StoredToken[]): void {
    const holders = tokens.map((token) => [token, storedHolder(token)] as const)
    this.#stored = new Map(holders.map(([token, holder]) => [token.digest, holder]))
    this.#storedByName = new Map(holders.map(([{ name }, holder]) => [name, holder]))
    this.#forgetReplaced()
  }

  /** Those of the configuration and of the store. A person may have several sign-ins, and counts once. */
  limited(): readonly LimitedToken[] {
    const all = [...this.#configured, ...this.#stored.values()].map(({ limited }) => limited)
    return [...new Map(all.map((token) => [token.key, token])).values()]
  }

  /** Of a stored token. */
  limitedByName(name: string): LimitedToken | null {
    return this.#storedByName.get(name)?.limited ?? null
  }

  /** Whether they may be a guess: a token or a page key of the configuration that was not accepted before. Nobody guesses those made here. */
  areStrange({ authorization, apiKey, query }: Credentials): boolean {
    if (!this.isRequired) return false
    const token = apiKey ?? authorization?.replace(/^bearer +/i, '') ?? ''
    if (token === '') return isGuessable(new URLSearchParams(query).get('key'))
    if (this.#known.has(token)) return false
    const presented = digest(token)
    return !this.#stored.has(presented.toString('hex')) && !timingSafeEqual(this.#evaluationDigest, presented) && !IS_LEASE_KEY.test(token)
  }

  /** The lease whose key was sent, which any gateway may have given; null where none was sent to a route that takes one. */
  findLease(needs: RouteNeeds | null, credentials: Credentials): Promise<EpisodeLease | null> | null {
    const token = needs?.access === 'evaluation' ? tokenIn(credentials) : null
    return token !== null && IS_LEASE_KEY.test(token) ? this.#findLease(token) : null
  }

  /** Answers with the principal, or throws. An unknown route (null) is as closed as any other. A guess that is wrong is told of. */
  admit(needs: RouteNeeds | null, credentials: Credentials, isWrong?: () => void, lease: EpisodeLease | null = null): Principal {
    const query = credentials.query === '' ? null : new URLSearchParams(credentials.query)
    const access = needs?.access ?? null
    if (query?.has('token') === true) throw unauthorized('a token in the address is never accepted; send it as an authorization header')
    if (query?.has('key') === true && access !== 'page') throw unauthorized('a page key opens the two pages of its scenario alone')
    if (lease !== null) return { kind: 'evaluation', lease }
    if (access === 'open' || !this.isRequired) return { kind: 'anyone' }
    const token = tokenIn(credentials)
    if (token !== null) return this.#admitToken(access, token, isWrong)
    const secret = this.#cookie === null ? null : cookieIn(credentials.cookies, this.#cookie)
    const person = secret === null ? null : this.#signedIn(secret)
    if (person !== null) return person
    if (secret !== null && query?.has('key') !== true) throw unauthorized('this sign-in is over; sign in again', 'token_expired')
    return this.#admitPageKey(needs, query, credentials.scenarioHeader, isWrong)
  }

  #admitToken(access: Access | null, token: string, isWrong: (() => void) | undefined): Principal {
    const holder = this.#known.get(token) ?? this.#recognise(token)
    // The secret of a sign-in is good in its cookie alone, where pages of others cannot use it.
    if (holder !== null && holder.signIn === null) {
      if (this.#isExpired(holder)) throw expired(holder)
      return holder
    }
    if (access === 'evaluation' && timingSafeEqual(this.#evaluationDigest, digest(token))) return { kind: 'evaluation', lease: null }
    isWrong?.()
    throw unauthorized(
      'the token is not one this service accepts; it may have been revoked or replaced: ask whoever runs the service for one',
    )
  }

  /** Looked up by its digest alone: whether a token of the configuration was guessed is not to be learned by a cookie. */
  #signedIn(secret: string): TokenHolder | null {
    const holder = this.#stored.get(digest(secret).toString('hex'))
    return holder === undefined || holder.signIn === null || this.#isExpired(holder) ? null : holder
  }

  #recognise(token: string): TokenHolder | null {
    const holder = this.#holderOf(digest(token))
    if (holder !== null) this.#known.set(token, holder)
    return holder
  }

  #holderOf(presented: Buffer): TokenHolder | null {
    return matching(this.#configured, presented) ?? this.#stored.get(presented.toString('hex')) ?? null
  }

  /** Tokens that are still in force stay known: otherwise a change of one would have all others slowed beside a guesser. */
  #forgetReplaced(): void {
    for (const [token, { digest: presented }] of this.#known) {
      const holder = this.#holderOf(presented)
      if (holder === null) this.#known.delete(token)
      else this.#known.set(token, holder)
    }
  }

  #isExpired({ expiresAt }: TokenHolder): boolean {
    return expiresAt !== null && this.#clock() >= expiresAt
  }

  #admitPageKey(
    needs: RouteNeeds | null,
    query: URLSearchParams | null,
    scenarioHeader: string | undefined,
    isWrong: (() => void) | undefined,
  ): Principal {
    const isPage = needs?.access === 'page'
    const holder = isPage && query !== null ? this.#keyHolder(needs, query, scenarioHeader) : null
    if (holder !== null) return { kind: 'page', role: holder.role, life: lifeIn(query?.get('key') ?? '') }
    if (isPage && query?.has('key') === true) {
      if (isGuessable(query.get('key'))) isWrong?.()
      throw wrongKey()
    }
    throw unauthorized('send the service token as "authorization: Bearer <token>" or as x-api-key')
  }

  /** A key opens the pages of its own scenario alone, whatever a header says, and no more than the token may that it came from. */
  #keyHolder({ right }: RouteNeeds, query: URLSearchParams, scenarioHeader: string | undefined): TokenHolder | null {
    const scenario = query.get('scenario')?.trim() ?? ''
    const key = query.get('key') ?? ''
    const other = decodeHeader(scenarioHeader ?? '').trim()
    if (scenario === '' || key === '' || (other !== '' && other !== scenario)) return null
    const [name = '', text] = key.split('.', 2)
    const stored = this.#storedByName.get(name)
    const holders = text === undefined ? this.#configured : stored === undefined ? [] : [stored]
    const holder = matching(holders, digest(key), (each) => digest(pageKeyOf(each, scenario, lifeIn(key))))
    return holder === null || this.#isExpired(holder) || !mayOpen(holder, right, scenario) ? null : holder
  }
}

/** Too long to be guessed. */
const IS_LEASE_KEY = new RegExp(`^${LEASE_KEY_PREFIX}[0-9a-f]{48}$`)

/** A guessed token makes its page keys. One of a token that was made here names it, and that is too long to guess. */
const isGuessable = (pageKey: string | null): boolean => pageKey !== null && !pageKey.includes('.')

const expired = ({ name, expiresAt }: TokenHolder): Error =>
  unauthorized(
    `the token ${name} expired on ${new Date((expiresAt ?? 0) * 1000).toISOString().slice(0, 16)}Z; whoever runs the service can replace it: svc token rotate ${name}`,
    'token_expired',
  )

const mayOpen = ({ role, scenarios }: TokenHolder, right: Right | null, scenario: string): boolean =>
  (right === null || hasRight(role, right)) && (scenarios === null || scenarios.has(scenario))

/** Whether the caller may do that at all; where, is another matter. */
export const hasPrincipalRight = (principal: Principal, right: Right): boolean =>
  principal.kind === 'anyone' || (principal.kind === 'service' && hasRight(principal.role, right))

/** Null for callers without a token. */
export const limitedToken = (principal: Principal): LimitedToken | null => (principal.kind === 'service' ? principal.limited : null)

function configuredHolder(name: string, text: string): TokenHolder {
  const digested = digest(text)
  const limited = { name, key: `${name} ${digested.toString('hex', 0, 4)}`, limits: null }
  return {
    kind: 'service',
    name,
    role: 'admin',
    scenarios: null,
    expiresAt: null,
    digest: digested,
    isStored: false,
    signIn: null,
    limited,
  }
}

function storedHolder(token: StoredToken): TokenHolder {
  const { name, role, scenarios, expires_at: expiresAt, digest: hex, created_by: person } = token
  const names = scenarios === null ? null : new Set(scenarios)
  const who = isSignIn(token) ? { name: person, signIn: name } : { name, signIn: null }
  const limited = { name: who.name, key: who.name, limits: token.limits ?? null }
  return { kind: 'service', ...who, role, scenarios: names, expiresAt, digest: Buffer.from(hex, 'hex'), isStored: true, limited }
}

/** The query of a page's path: its scenario, and the key when a token was presented. A person's browser opens pages without one. */
export function pageQuery(principal: Principal, { name: scenario, created }: Pick<Scenario, 'name' | 'created'>): string {
  const query = new URLSearchParams({ scenario })
  if (principal.kind === 'service' && principal.signIn === null) query.set('key', pageKeyOf(principal, scenario, lifeOf(created)))
  return query.toString()
}

/** Derived from the token's digest, so that a key never gives the token away. */
function pageKeyOf({ name, digest: key, isStored }: TokenHolder, scenario: string, life: string | null): string {
  const words = PAGE_KEY_CONTEXT + scenario + (life === null ? '' : `\n${life}`)
  const text = createHmac('sha256', key).update(words).digest('hex') + (life === null ? '' : LIFE_MARK + life)
  return isStored ? `${name}.${text}` : text
}

/** Before the life in a page key, which the key itself says: it is judged before the scenario is loaded. */
const LIFE_MARK = '~'
const lifeIn = (key: string): string | null => key.split(LIFE_MARK, 2)[1] ?? null

/** A key for an archived scenario opens no later one of its name. */
export function refuseKeyOfOther(principal: Principal, { created }: Pick<Scenario, 'created'>): void {
  if (principal.kind === 'page' && principal.life !== lifeOf(created)) throw wrongKey()
}

const wrongKey = (): Error => unauthorized('the key in this address opens no page of this scenario; ask for a new link')

/** A present Authorization header alone is judged; only without one does the key header of a format count, such as x-api-key. */
function tokenIn({ authorization, apiKey }: Credentials): string | null {
  if (authorization === undefined) return apiKey === undefined || apiKey === '' ? null : apiKey
  const [, credential] = /^bearer +(.+)$/i.exec(authorization.trim()) ?? []
  if (credential === undefined) throw unauthorized('the authorization header must be "Bearer <token>"')
  return credential
}

/** Compares with every token, so that the time taken says nothing about which one is close. */
function matching(
  holders: readonly TokenHolder[],
  presented: Buffer,
  known: (holder: TokenHolder) => Buffer = (holder) => holder.digest,
): TokenHolder | null {
  let found: TokenHolder | null = null
  for (const holder of holders) if (timingSafeEqual(known(holder), presented)) found ??= holder
  return found
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** A client's own key of a provider is none of ours, and is not judged. */
export function credentialsOf(query: string, sent: IncomingHttpHeaders, clientKey: ClientKey | null = null) {
  const headers = clientKey === null ? sent : { ...sent, [clientKey.header]: undefined }
  const { authorization } = headers
  return {
    query,
    authorization,
    cookies: headers.cookie,
    apiKey: authorization === undefined ? keyIn(headers) : undefined,
    /** Undecoded, since only a page key needs its text. */
    scenarioHeader: single(headers[HEADER.scenario]),
  }
}

/** The first of that name. Null without one. */
export function cookieIn(cookies: string | undefined, name: string): string | null {
  const found = cookies?.split(';').find((each) => each.trim().startsWith(`${name}=`))
  return found === undefined ? null : found.trim().slice(name.length + 1)
}

function keyIn(headers: IncomingHttpHeaders): string | undefined {
  const name = keyHeaderNames.find((known) => headers[known] !== undefined)
  return name === undefined ? undefined : single(headers[name])
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}
