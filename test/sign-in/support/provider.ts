/** A real OpenID Connect provider for tests: certified, strict about PKCE, and signing in whoever the test says. */
import { createServer } from 'node:http'
import { Provider, type Context } from 'oidc-provider'
import { closeServer, listenOnLoopback } from '../../support/listen.ts'

export interface TestAccount {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly groups?: unknown
}

export interface TestProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** Who signs in next; null declines. */
  account: TestAccount | null
  close(): Promise<void>
}

const CLIENT_ID = 'svc-of-the-test'
const CLIENT_SECRET = 'client-secret-of-the-test'

/** `idTokenClaims`: whether groups are in the id token, or in the user info alone. */
export async function startProvider(redirectUri: string, { idTokenClaims = false } = {}): Promise<TestProvider> {
  const server = createServer()
  const issuer = `http://127.0.0.1:${await listenOnLoopback(server)}`
  const there: { account: TestAccount | null } = { account: null }
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: [], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    conformIdTokenClaims: !idTokenClaims,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['a-key-of-the-test'] },
    interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ ...there.account, sub: accountId }) }),
    loadExistingGrant: async ({ oidc }: Context) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid email profile groups')
      await grant.save()
      return grant
    },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  })
  const handle = provider.callback()
  server.on('request', (request, response) => {
    const { account } = there
    const result = account === null ? { error: 'access_denied' } : { login: { accountId: account.sub, remember: false } }
    if (request.url?.startsWith('/interaction/') === true) void provider.interactionFinished(request, response, result)
    else handle(request, response)
  })
  return {
    issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    get account() {
      return there.account
    },
    set account(account) {
      there.account = account
    },
    close: () => closeServer(server),
  }
}
