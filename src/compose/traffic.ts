/** What the configuration says of every request. */
import { steadyClock } from '../access/index.ts'
import type { LoadedConfig } from '../config/index.ts'
import type { Runtime } from '../contract/index.ts'
import { Authenticator, cookieName, WrongTokens, type ConfiguredTokens, type HttpServices, type TrafficServices } from '../http/index.ts'
import { InsideAddresses, newId } from '../kit/index.ts'
import type { LimitPlace, PriceTable } from '../limits/index.ts'
import type { Recorder } from '../recording/index.ts'
import type { Evaluation } from './evaluation.ts'
import { allowedInside } from './inside.ts'
import { openLimits } from './limits.ts'
import { recordingRules } from './recording.ts'
import { reconfigureRuntime } from './runtime.ts'

export const clock = (): number => Date.now() / 1000

type Inside = Pick<HttpServices, 'inside'>
type Configured = Omit<TrafficServices, 'registry' | 'log' | 'metrics' | 'bodies' | 'traces' | 'recorder'>

export function configuredTraffic(
  loaded: LoadedConfig,
  { token, fleet }: Pick<Evaluation, 'token'> & Partial<Pick<Evaluation, 'fleet'>>,
  limits: LimitPlace,
  shares?: Parameters<typeof openLimits>[2],
): Configured & Inside {
  return {
    auth: new Authenticator(tokensIn(loaded), token, steadyClock(clock), {
      cookie: signInCookie(loaded),
      findLease: async (key) => fleet?.leaseWith(key) ?? null,
    }),
    wrongTokens: new WrongTokens(),
    limits: openLimits(loaded, limits, shares),
    ...trafficSettings(loaded),
  }
}

/** What a running thread is made of, as far as the configuration can change it. */
interface ThreadParts {
  readonly services: Configured
  readonly runtime: Runtime
  readonly recorder: Recorder
  /** Those of the traces. */
  readonly prices: PriceTable
  readonly group: string
}

/**
 * Gives a running thread what a changed configuration says. What may fail comes first, and the rest happens at once, so that no request sees
 * half of it. Requests under way end with what they began with.
 */
export async function reconfigureThread(
  parts: ThreadParts,
  loaded: LoadedConfig,
  limits: LimitPlace,
  shares?: Parameters<typeof openLimits>[2],
): Promise<void> {
  const { services, runtime, recorder, prices, group } = parts
  const rules = recordingRules(loaded)
  await recorder.prepare(rules)
  reconfigureRuntime(runtime, loaded, group)
  recorder.use(rules)
  prices.use(loaded.config.limits.prices)
  services.auth.configure(tokensIn(loaded))
  Object.assign(services, trafficSettings(loaded), { limits: openLimits(loaded, limits, shares) })
}

/** Known from the start on: another sign-in needs a restart. */
const signInCookie = ({ config: { svc } }: LoadedConfig): string | null =>
  svc.sign_in === null ? null : cookieName('signIn', svc.sign_in.public_url)

function tokensIn({ config: { svc } }: LoadedConfig): ConfiguredTokens {
  return { token: svc.token, tokens: [...new Set(svc.tokens)] }
}

function trafficSettings(loaded: LoadedConfig): Omit<Configured, 'auth' | 'wrongTokens' | 'limits'> & Inside {
  const { config } = loaded
  const { tls, console_origins, served_url, sign_in } = config.svc
  return {
    inside: new InsideAddresses(allowedInside(loaded)),
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
    passesClientKeys: config.inference.client_key_origins.length > 0,
    speaksReef: config.svc.compat === 'reef',
  }
}
