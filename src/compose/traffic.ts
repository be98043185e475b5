/** What the configuration says of every request. */
import { steadyClock } from '../access/index.ts'
import type { LoadedConfig } from '../config/index.ts'
import { Authenticator, cookieName, WrongTokens, type ConfiguredTokens, type HttpServices, type TrafficServices } from '../http/index.ts'
import { InsideAddresses, newId } from '../kit/index.ts'
import type { LimitPlace } from '../limits/index.ts'
import { allowedInside } from './inside.ts'
import { openLimits } from './limits.ts'

export const clock = (): number => Date.now() / 1000

type Configured = Omit<TrafficServices, 'registry' | 'log' | 'metrics' | 'bodies' | 'traces' | 'recorder'>

export function configuredTraffic(
  loaded: LoadedConfig,
  evaluationToken: string,
  limits: LimitPlace | null,
  shares?: Parameters<typeof openLimits>[2],
): Configured & Pick<HttpServices, 'inside'> {
  return {
    inside: new InsideAddresses(allowedInside(loaded)),
    auth: new Authenticator(tokensIn(loaded), evaluationToken, steadyClock(clock), signInCookie(loaded)),
    wrongTokens: new WrongTokens(),
    limits: openLimits(loaded, limits, shares),
    ...trafficSettings(loaded),
  }
}

/** Gives the parts of a running thread what a changed configuration says. Requests see it from their next look on. */
export function reconfigureTraffic(parts: Configured, loaded: LoadedConfig): void {
  parts.auth.configure(tokensIn(loaded))
  Object.assign(parts, trafficSettings(loaded))
}

/** Known from the start on: another sign-in needs a restart. */
const signInCookie = ({ config: { svc } }: LoadedConfig): string | null =>
  svc.sign_in === null ? null : cookieName('signIn', svc.sign_in.public_url)

function tokensIn({ config: { svc } }: LoadedConfig): ConfiguredTokens {
  return { token: svc.token, tokens: [...new Set(svc.tokens)] }
}

function trafficSettings({ config }: LoadedConfig): Omit<Configured, 'auth' | 'wrongTokens' | 'limits'> {
  const { tls, console_origins, served_url, sign_in } = config.svc
  return {
    origins: new Set(console_origins),
    hosts: new Set([...console_origins, ...(served_url === null ? [] : [served_url])].map((url) => new URL(url).host)),
    scheme: tls === null ? 'http' : 'https',
    signIn: sign_in === null ? null : { name: sign_in.name, origin: sign_in.public_url },
    servedOrigin: served_url === null ? null : new URL(served_url).origin,
    clock,
    newId,
    retryTimeoutSeconds: config.inference.retry_timeout_s,
    keepRawStreams: config.storage.keep_raw_streams,
    answerBytesMax: config.inference.max_answer_bytes,
    speaksReef: config.svc.compat === 'reef',
  }
}
