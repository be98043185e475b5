/** Asks the model of a run one tiny question before anything is mined or played: a wrong key, address or name of the model ends the run here. */
import { fetch } from 'undici'
import type { LoadedConfig } from '../../config/index.ts'
import { invalid, isObject, type ModelAddress } from '../../contract/index.ts'
import { dialectsByApi, parsed, readModelAnswer } from '../../dialects/index.ts'
import { firstCodePoints, withoutKnownSecrets } from '../../kit/index.ts'
import { credentials, reasonOf, through } from '../doctor-upstream.ts'
import { oneLine } from '../screen/text.ts'

const SECONDS_MAX = 120
const TOKENS_MAX = 16
const WORDS_MAX = 300
const QUESTION = [{ role: 'user', content: 'Say: ok' }] as const
/** A model that wants another name for this limit was reached, and knows the key. */
const TOKENS_REFUSED = /max_?(?:completion_|output_?)?tokens/i

/** Throws what is wrong, with the fix. Named upstreams choose by their own rules, so that one question says nothing about them. */
export async function askModelOnce(loaded: LoadedConfig, signal: AbortSignal): Promise<void> {
  const { runtime, model } = loaded.upstream
  if (runtime !== 'provider' || model === null || model.upstreams !== undefined) return
  const problem = await problemOf(model, loaded, signal)
  if (problem !== null) throw invalid('model_unusable', `nothing was mined or played: ${problem}`)
}

async function problemOf(model: ModelAddress, { upstream: { found }, proxies }: LoadedConfig, signal: AbortSignal): Promise<string | null> {
  const name = model.model ?? ''
  const dialect = dialectsByApi[model.api]
  const url = `${model.url}${dialect.reader.askPath(name)}`
  const wrongAddress = (why: string): string => `the address of the model is wrong or away: ${url} ${why}; correct ${addressKey(found)}`
  try {
    const body = JSON.stringify(dialect.writeRequest({ messages: QUESTION, tools: [], model: name, tokensMax: TOKENS_MAX }))
    const headers = { 'content-type': 'application/json', ...credentials(model) }
    const limit = AbortSignal.any([signal, AbortSignal.timeout(SECONDS_MAX * 1000)])
    const answer = await fetch(url, { ...through(proxies), method: 'POST', headers, body, redirect: 'manual', signal: limit })
    const text = withoutKnownSecrets(await answer.text())
    const json = parsed(text)
    if (answer.ok)
      return isObject(json) && readModelAnswer(dialect, json) !== null ? null : wrongAddress('answers with something else than a model')
    return refusedBy(answer.status, wordsIn(json), { name, found, wrongAddress })
  } catch (error) {
    signal.throwIfAborted()
    return wrongAddress(`does not answer (${reasonOf(error)})`)
  }
}

interface Asked {
  readonly name: string
  readonly found: string
  readonly wrongAddress: (why: string) => string
}

/** Null for a status that says that the model is there. */
function refusedBy(status: number, words: string, { name, found, wrongAddress }: Asked): string | null {
  const said = words === '' ? '' : `: ${words}`
  if (status === 401 || status === 403) return `the key of the model is refused (${status}${said}); correct ${keyKey(found)}`
  if (status === 402 || /quota|billing|credit/i.test(words))
    return `the account of the key pays for no call (${status}${said}); look at the account of ${keyKey(found)}`
  if (status === 429 || (status === 400 && TOKENS_REFUSED.test(words))) return null
  if ((status === 400 || status === 404) && /model/i.test(words))
    return `the model ${name} is refused (${status}${said}); name another with --inference.upstream_model`
  return wrongAddress(`answers ${status}${said}`)
}

/** The names by which a person gave them. */
const vendorOf = (found: string): string | null => /^environment (OPENAI|ANTHROPIC)_/.exec(found)?.[1] ?? null
const keyKey = (found: string): string => (vendorOf(found) === null ? 'SVC_UPSTREAM_API_KEY' : found.slice('environment '.length))

function addressKey(found: string): string {
  const vendor = vendorOf(found)
  return vendor === null ? '--model-url or SVC_UPSTREAM_URL' : `--model-url or ${vendor}_BASE_URL`
}

function wordsIn(json: unknown): string {
  const error = isObject(json) ? json['error'] : undefined
  const message = isObject(error) ? error['message'] : error
  const type = isObject(error) && typeof error['code'] === 'string' ? error['code'] : ''
  return oneLine(firstCodePoints(typeof message === 'string' ? message : type, WORDS_MAX))
}
