/** What the configuration says of every request. */
import { steadyClock } from '../access/index.ts'
import type { LoadedConfig } from '../config/index.ts'
import { Authenticator, type TrafficServices } from '../http/index.ts'
import { newId } from '../kit/index.ts'
import type { LimitPlace } from '../limits/index.ts'
import { openLimits } from './limits.ts'
import { openRecorder } from './recording.ts'

export const clock = (): number => Date.now() / 1000

type Configured = Omit<TrafficServices, 'registry' | 'log' | 'metrics' | 'bodies' | 'traces'>

export function configuredTraffic(loaded: LoadedConfig, evaluationToken: string, limits: LimitPlace | null): Configured {
  const { config } = loaded
  const { token, tokens, console_origins, served_url } = config.svc
  return {
    auth: new Authenticator({ token, tokens: [...new Set(tokens)] }, evaluationToken, steadyClock(clock)),
    origins: new Set(console_origins),
    hosts: new Set([...console_origins, ...(served_url === null ? [] : [served_url])].map((url) => new URL(url).host)),
    servedOrigin: served_url === null ? null : new URL(served_url).origin,
    clock,
    newId,
    retryTimeoutSeconds: config.inference.retry_timeout_s,
    keepRawStreams: config.storage.keep_raw_streams,
    answerBytesMax: config.inference.max_answer_bytes,
    recorder: openRecorder(loaded),
    speaksReef: config.svc.compat === 'reef',
    limits: openLimits(loaded, limits),
  }
}
