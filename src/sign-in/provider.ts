/** The OpenID Connect provider of the deployment: authorization code with PKCE, state and nonce. Its metadata are asked for when they are first needed. */
import type { Configuration } from 'openid-client'
import { isRefusal, limited, unauthorized, unavailable, type Refusal } from '../contract/index.ts'
import { ANSWER_SECONDS_MAX, makeAsk, type Proxies } from './asking.ts'
import { groupsIn } from './groups.ts'
import { openLibrary, type OpenIdLibrary } from './library.ts'
import { personIn } from './person.ts'

interface ProviderSettings {
  readonly issuer: string
  readonly clientId: string
  /** Null: a public client, which PKCE alone protects. */
  readonly clientSecret: string | null
  /** Where the provider sends people back to. */
  readonly redirectUri: string
  readonly scopes: readonly string[]
  /** The claim with the person's groups. */
  readonly claim: string
  readonly proxies: Proxies | null
}

/** What the answer of the provider is held against. Kept by the browser that began, so that no other can finish. */
export interface SignInAttempt {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

interface SignedIn {
  /** As the log and the audit name the person. */
  readonly person: string
  readonly groups: readonly string[]
}

interface Known {
  readonly library: OpenIdLibrary
  readonly metadata: Configuration
  readonly untilMs: number
}

/** Metadata are asked for again after this long: providers move their addresses. */
const KNOWN_MS = 3_600_000
/** How far the provider's clock may be off. */
const CLOCK_SECONDS_MAX = 60
/** Each of them has the provider asked. */
const AT_ONCE_MAX = 64

export class SignInProvider {
  readonly #settings: ProviderSettings
  readonly #ask: ReturnType<typeof makeAsk>
  #known: Known | null = null
  #opening: Promise<Known> | null = null
  #running = 0

  constructor(settings: ProviderSettings) {
    this.#settings = settings
    this.#ask = makeAsk(settings.proxies)
  }

  /** Where to send the person, and what the answer is held against. */
  begin(): Promise<{ readonly url: string; readonly attempt: SignInAttempt }> {
    return this.#bounded(async () => {
      const { library, metadata } = await this.#open()
      const attempt = { state: library.randomState(), nonce: library.randomNonce(), verifier: library.randomPKCECodeVerifier() }
      const url = library.buildAuthorizationUrl(metadata, {
        redirect_uri: this.#settings.redirectUri,
        scope: this.#settings.scopes.join(' '),
        code_challenge: await library.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
        state: attempt.state,
        nonce: attempt.nonce,
      })
      return { url: url.href, attempt }
    })
  }

  /** Throws where the answer is not the provider's to this attempt. */
  finish(query: string, { state, nonce, verifier }: SignInAttempt): Promise<SignedIn> {
    return this.#bounded(async () => {
      const { library, metadata } = await this.#open()
      const tokens = await library.authorizationCodeGrant(metadata, new URL(`${this.#settings.redirectUri}?${query}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims() ?? { sub: '' }
      const isWhole = Object.hasOwn(claims, this.#settings.claim)
      const more =
        isWhole || metadata.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await library.fetchUserInfo(metadata, tokens.access_token, claims.sub)
      const said: Readonly<Record<string, unknown>> = { ...more, ...claims }
      return { person: personIn(said), groups: groupsIn(Object.hasOwn(said, this.#settings.claim) ? said[this.#settings.claim] : null) }
    })
  }

  /** Throws where nobody could sign in now. */
  async check(): Promise<void> {
    await this.#bounded(() => this.#open())
  }

  async #bounded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE_MAX) throw limited('sign_ins_limit', 'many people sign in at this moment; try again', 5)
    this.#running += 1
    try {
      return await work()
    } catch (error) {
      throw refusalIn(error) ?? notAccepted(error)
    } finally {
      this.#running -= 1
    }
  }

  /** One asks, and all who need it meanwhile share its answer. A failure is not kept. */
  async #open(): Promise<Known> {
    if (this.#known !== null && performance.now() < this.#known.untilMs) return this.#known
    this.#opening ??= this.#learn().finally(() => (this.#opening = null))
    return this.#opening
  }

  async #learn(): Promise<Known> {
    const library = await openLibrary()
    this.#known = { library, metadata: await this.#discover(library), untilMs: performance.now() + KNOWN_MS }
    return this.#known
  }

  async #discover(library: OpenIdLibrary): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings
    const isPlain = new URL(issuer).protocol === 'http:'
    try {
      const found = await library.discovery(
        new URL(issuer),
        clientId,
        { [library.clockTolerance]: CLOCK_SECONDS_MAX },
        authentication(library, clientSecret),
        {
          [library.customFetch]: this.#ask,
          timeout: ANSWER_SECONDS_MAX,
          // The signature of an id token is checked although it comes from the provider itself.
          execute: [library.enableNonRepudiationChecks, ...(isPlain ? [library.allowInsecureRequests] : [])],
        },
      )
      const { issuer: named, authorization_endpoint, token_endpoint, jwks_uri } = found.serverMetadata()
      // The library takes issuers that stand for many companies. Groups of another company must not count here.
      if (new URL(named).href !== new URL(issuer).href) throw wrongMetadata('it names another issuer')
      if (![authorization_endpoint, token_endpoint, jwks_uri].every((address) => isAddress(address, isPlain)))
        throw wrongMetadata('an address that is needed is missing, or is not https')
      return found
    } catch (error) {
      throw refusalIn(error) ?? wrongMetadata(codeIn(error), error)
    }
  }
}

function isAddress(address: string | undefined, isPlain: boolean): boolean {
  if (address === undefined || !URL.canParse(address)) return false
  const { protocol } = new URL(address)
  return protocol === 'https:' || (isPlain && protocol === 'http:')
}

/** As the provider says it takes the secret; without a word, as the standard says. */
function authentication(library: OpenIdLibrary, secret: string | null): ReturnType<OpenIdLibrary['None']> {
  if (secret === null) return library.None()
  const [basic, post] = [library.ClientSecretBasic(secret), library.ClientSecretPost(secret)]
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const chosen = methods.includes('client_secret_basic') || !methods.includes('client_secret_post') ? basic : post
    chosen(server, client, body, headers)
  }
}

/** The library wraps what its means of asking threw. */
function refusalIn(error: unknown): Refusal | null {
  for (let each = error, depth = 0; each instanceof Error && depth < 8; each = each.cause, depth += 1) if (isRefusal(each)) return each
  return null
}

const wrongMetadata = (reason: string, cause?: unknown): Refusal =>
  unavailable(
    'sign_in_unavailable',
    `what the sign-in provider says of itself is not right (${reason}); compare svc.sign_in.issuer with its /.well-known/openid-configuration`,
    { cause },
  )

const notAccepted = (cause: unknown): Refusal =>
  unauthorized(`the answer of the sign-in provider is not accepted (${codeIn(cause)}); sign in again`, 'sign_in_failed', { cause })

const CODE = /^[\w-]{1,64}$/

/** The word for what was wrong: the provider's, or the library's. Nobody's sentences are repeated. */
function codeIn(error: unknown): string {
  const { error: theirs, code }: { readonly error?: unknown; readonly code?: unknown } = Object(error)
  return [theirs, code].filter((word) => typeof word === 'string').find((word) => CODE.test(word)) ?? 'no reason is known'
}
