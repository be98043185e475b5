/** Opens the sign-in for people, where one is configured. The provider is asked beside the start, which does not wait for it. */
import type { LoadedConfig } from '../config/index.ts'
import type { SignInDesk } from '../http/index.ts'
import { wordsOf } from '../kit/index.ts'
import { SignInProvider } from '../sign-in/index.ts'

const CALLBACK = '/svc/sign-in/callback'
const HOUR_SECONDS = 3600

export function openSignIn(loaded: LoadedConfig, warn: (message: string, error: unknown) => void): SignInDesk | null {
  const settings = loaded.config.svc.sign_in
  const provider = providerIn(loaded)
  if (settings === null || provider === null) return null
  provider
    .check()
    .catch((error: unknown) => warn('nobody can sign in with svc.sign_in at the moment; tokens work, and each sign-in tries again', error))
  return { provider, groups: new Map(Object.entries(settings.groups)), lifeSeconds: settings.hours * HOUR_SECONDS }
}

/** Why nobody could sign in now; null where everybody can, or nobody shall. */
export async function signInProblem(loaded: LoadedConfig): Promise<string | null> {
  try {
    await providerIn(loaded)?.check()
    return null
  } catch (error) {
    return wordsOf(error)
  }
}

function providerIn({ config, proxies }: LoadedConfig): SignInProvider | null {
  const settings = config.svc.sign_in
  if (settings === null) return null
  const { issuer, client_id: clientId, client_secret: clientSecret, public_url, scopes, groups_claim: claim } = settings
  return new SignInProvider({ issuer, clientId, clientSecret, redirectUri: `${public_url}${CALLBACK}`, scopes, claim, proxies })
}
