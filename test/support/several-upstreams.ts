/** Several upstreams for tests: time passes only in pauses, and by hand. */
import { onTestFinished } from 'vitest'
import { answerPlainly, sendJson, startUpstream, type Script } from './upstream.ts'
import { type JsonObject, type RuntimeAnswer, type RuntimeCall } from '../../src/contract/index.ts'
import { SeveralUpstreams } from '../../plugins/runtimes/provider/several.ts'

const MODEL = { url: 'http://unused', model: null, api: 'openai', apiKey: null } as const

interface Wanted {
  readonly upstreams: Readonly<Record<string, JsonObject>>
  readonly retries?: number
  readonly failures?: number
  readonly clientKeyOrigins?: readonly string[]
}

/** Time passes only in pauses, and by hand. */
export function open({ upstreams, retries = 2, failures = 3, clientKeyOrigins = [] }: Wanted) {
  const time = { now: 1000 }
  const pauses: number[] = []
  const settings = Object.entries(upstreams).map(([name, own]) => [name, { formats: ['chat', 'responses', 'messages', 'gemini'], ...own }])
  const config = {
    timeout_s: 600,
    upstream_retries: retries,
    breaker: { failures, rest_s: 30 },
    upstreams: Object.fromEntries(settings),
    client_key_origins: clientKeyOrigins,
  }
  const several = new SeveralUpstreams(config, {
    clock: () => time.now,
    random: () => 0.5,
    sleep(seconds) {
      pauses.push(seconds)
      time.now += seconds
      return Promise.resolve()
    },
  })
  onTestFinished(() => several.close())
  const names = Object.keys(upstreams)
  const call = (more: Partial<RuntimeCall> & { readonly names?: readonly string[] } = {}): RuntimeCall => ({
    dialect: 'chat',
    path: '/v1/chat/completions',
    headers: {},
    body: Buffer.from('{"model":"m","messages":[]}'),
    askedModel: 'm',
    model: { ...MODEL, upstreams: more.names ?? names },
    purpose: 'traffic',
    release: { release_id: 'r1', parent_release_id: null, content_id: 'c1' },
    signal: new AbortController().signal,
    ...more,
  })
  return { several, time, pauses, call, ask: (more?: Parameters<typeof call>[0]) => several.infer(call(more)) }
}

export async function provider(script: Script = answerPlainly) {
  const upstream = await startUpstream()
  upstream.answer(script)
  onTestFinished(() => upstream.close())
  return upstream
}

/** A first choice that does as it is told, and a second that answers. */
export async function two(first: Script, settings: Partial<Wanted> = {}) {
  const [one, other] = [await provider(first), await provider()]
  const opened = open({ upstreams: { one: { url: one.url }, other: { url: other.url, priority: 1 } }, ...settings })
  return { one, other, ...opened }
}

export const byOf = (answer: RuntimeAnswer): string | null | undefined => (answer.kind === 'interrupted' ? undefined : answer.by?.name)

export async function textOf(answer: RuntimeAnswer): Promise<string> {
  if (answer.kind !== 'stream') throw new Error('a stream was expected')
  const parts: Uint8Array[] = []
  for await (const chunk of answer.chunks) parts.push(chunk)
  return Buffer.concat(parts).toString()
}

export const refuses =
  (status: number, headers: Record<string, string> = {}): Script =>
  (_received, response) =>
    sendJson(response, status, { error: { message: 'no' } }, headers)
