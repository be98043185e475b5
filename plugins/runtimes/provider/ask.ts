/** One request to one upstream, over its pooled connections. */
import { type ModelsCall, type Refusal, type RuntimeAnswer } from '../../../src/contract/index.ts'
import type { DialectSpec } from '../../../src/dialects/index.ts'
import { lengthOf } from '../../../src/kit/index.ts'
import { failureOf, type Connections, type Whom } from '../common/upstream.ts'
import { AnswerHandler, type AnswerWatch } from './answer.ts'
import type { SentBody } from './body.ts'
import type { SentKey } from './sent-key.ts'

interface UpstreamRequest extends Pick<ModelsCall, 'path' | 'headers' | 'signal'> {
  readonly dialect: DialectSpec
  readonly key: SentKey
  /** Null where the models are listed. */
  readonly body: SentBody | null
  readonly bytesMax: number
  /** The upstream's name and setting, for messages. */
  readonly whom: Pick<Whom, 'name' | 'setting'>
  readonly watch?: AnswerWatch
}

export function ask({ dispatcher, origin, prefix, proxy }: Connections, asked: UpstreamRequest): Promise<RuntimeAnswer> {
  const { dialect, key, body, bytesMax, signal, path, whom, watch = null } = asked
  const headers: Record<string, string> = { ...dialect.defaultHeaders, ...asked.headers, ...key.headers, 'accept-encoding': 'identity' }
  if (body !== null) headers['content-type'] = 'application/json'
  if (body !== null && body.pieces.length > 1) headers['content-length'] = String(lengthOf(body.pieces))
  const whyNot = (error: Error): Refusal => failureOf(error, { ...whom, origin, proxy })
  const method = body === null ? 'GET' : 'POST'
  return new Promise<RuntimeAnswer>((resolve, reject) => {
    const handler = new AnswerHandler(resolve, reject, signal, bytesMax, whyNot, key, body, watch)
    dispatcher.dispatch({ origin, method, path: prefix + path, headers, body: body?.toSend() ?? null }, handler)
  })
}
