/** The practice runtime: a deterministic mock model inside the process, in every provider's format, without network or key. */
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import type { JsonObject, Runtime, RuntimeCall, StreamedAnswer, WholeAnswer } from '../../../src/contract/index.ts'
import { JSON_DEPTH_MAX, PRODUCT, upstream } from '../../../src/contract/index.ts'
import {
  dialects,
  isObject,
  parsed,
  type DialectSpec,
  type RequestFault,
  type ModelReply,
  type ReplyCall,
} from '../../../src/dialects/index.ts'
import { isDeeperThan } from '../../../src/kit/index.ts'
import { digest } from './draw.ts'
import type { Prompt, Thought } from './prompt.ts'
import { isFault, readPrompt } from './read-prompt.ts'
import { think } from './think.ts'
import { countTokens, promptTokens, streamPieces, firstTokens } from './tokens.ts'
import { numberIn, refuseUnknown } from '../common/settings.ts'

/** After so many events the event loop gets its turn, so that a long answer can be aborted. */
const EVENTS_PER_TURN = 16

const NOISE_DEFAULT = 0.1
const CHUNK_DELAY_MS_MAX = 60_000
const PRACTICE_MODEL = 'practice'
/** The model does not change with the process, so its date is a constant. */
const CREATED_AT = '2026-01-01T00:00:00Z'

export const NOTICE = [
  `This is ${PRODUCT}'s built-in mock model: deterministic, not a real language model.`,
  'Configure an upstream to use a real one.',
].join(' ')

export function readSettings(config: JsonObject) {
  refuseUnknown('practice', config, ['noise', 'chunk_delay_ms'])
  return {
    /** How often the model ignores a lesson it holds, from 0 to 1. */
    noise: numberIn(config, 'noise', NOISE_DEFAULT, 1),
    chunkDelayMs: numberIn(config, 'chunk_delay_ms', 0, CHUNK_DELAY_MS_MAX),
  }
}

/** `clock` gives seconds since the epoch. */
export function makePractice(settings: ReturnType<typeof readSettings>, clock: () => number): Runtime {
  let answers = 0
  let isNoticeDue = true

  /** The first answer to a person names the model, unless the notice would not fit, would break JSON or would spoil a score. */
  const withNotice = (call: RuntimeCall, prompt: Prompt, thought: Thought): Thought => {
    if (!isNoticeDue || thought.kind !== 'text' || !thought.plain || isEvaluation(call)) return thought
    const text = `${NOTICE}\n\n${thought.text}`
    if (prompt.tokensMax !== null && countTokens(text) > prompt.tokensMax) return thought
    isNoticeDue = false
    return { ...thought, text }
  }

  return {
    async infer(call) {
      refuseAborted(call.signal)
      const dialect = dialects[call.dialect]
      const { seed, body, prompt } = read(dialect, call)
      const id = requestIdOf(seed)
      if (isFault(prompt)) return whole(dialect, 400, dialect.writeError(400, { ...prompt, requestId: id }), id)
      if (dialect.writeCount !== undefined) return whole(dialect, 200, dialect.writeCount(promptTokens(prompt)), id)
      const thought = withNotice(call, prompt, think(prompt, settings.noise))
      const reply = replyOf(prompt, thought, { id: seed.slice(0, dialect.idCharacters), createdSeconds: Math.floor(clock()) })
      answers += 1
      const answer = dialect.writeAnswer(reply, body)
      if (!dialect.isStreamed(call.path, body)) return whole(dialect, 200, answer, id)
      return streamed(call, dialect.frames(answer, body, streamPieces), settings.chunkDelayMs, id)
    },
    async models(call) {
      refuseAborted(call.signal)
      return whole(dialects.chat, 200, modelList(call.model.model), requestIdOf(digest(call.path)))
    },
    async status() {
      return { runtime: 'practice', practice: true, notice: NOTICE, answers }
    },
    async close() {},
  }
}

function read(
  dialect: DialectSpec,
  call: RuntimeCall,
): { readonly seed: string; readonly body: JsonObject; readonly prompt: Prompt | RequestFault } {
  const text = Buffer.from(call.body).toString()
  const seed = digest(call.dialect, text)
  const body = parsed(text)
  if (!isObject(body))
    return { seed, body: {}, prompt: unreadable('We could not parse the JSON body of your request: it must be an object.') }
  if (isDeeperThan(body, JSON_DEPTH_MAX)) return { seed, body, prompt: unreadable('The JSON body of your request is nested too deeply.') }
  return { seed, body, prompt: readPrompt(dialect, body, dialect.modelIn(call.path, body) || (call.model.model ?? '')) }
}

/** By its purpose, and by its path where a recipe calls the runtime itself. */
const isEvaluation = (call: RuntimeCall): boolean => call.purpose === 'evaluation' || call.path.includes('/evaluation/')

const unreadable = (message: string): RequestFault => ({ message, param: null, code: null })

const requestIdOf = (seed: string): string => `req_${seed.slice(0, 24)}`

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw upstream('call_aborted', 'the call was given up before the model answered', { cause: signal.reason })
}

/** OpenAI's shape with the fields that Anthropic's clients read. A configured model name is listed too. */
function modelList(configured: string | null): JsonObject {
  const ids = configured === null || configured === PRACTICE_MODEL ? [PRACTICE_MODEL] : [configured, PRACTICE_MODEL]
  return { object: 'list', data: ids.map(model), has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null }
}

const model = (id: string): JsonObject => ({
  id,
  object: 'model',
  type: 'model',
  created: Date.parse(CREATED_AT) / 1000,
  created_at: CREATED_AT,
  owned_by: PRODUCT,
  display_name: 'Practice model',
})

/** A thought cut to the limits of its request. The id depends on the request only. */
function replyOf(prompt: Prompt, thought: Thought, origin: Pick<ModelReply, 'id' | 'createdSeconds'>): ModelReply {
  const base = { ...origin, model: prompt.model }
  const input = promptTokens(prompt)
  const call = thought.kind === 'call' ? callOf(thought) : null
  if (call !== null) {
    const output = countTokens(call.name) + countTokens(call.input)
    if (output <= (prompt.tokensMax ?? output))
      return { ...base, text: '', calls: [call], ending: { kind: 'call' }, usage: { input, output } }
  }
  // A call that does not fit is cut before it is one.
  const said = thought.kind === 'text' ? thought.text : ''
  const { text, ending } = cut(said, prompt, call !== null)
  const output = Math.max(countTokens(text), ending.kind === 'length' ? (prompt.tokensMax ?? 0) : 0)
  return { ...base, text, calls: [], ending, usage: { input, output } }
}

const callOf = ({ tool: { name, shape, namespace }, input }: Extract<Thought, { kind: 'call' }>): ReplyCall => ({
  id: null,
  name,
  input,
  shape: shape === 'custom' ? shape : 'function',
  namespace,
})

function cut(said: string, prompt: Prompt, isCutCall: boolean): Pick<ModelReply, 'text' | 'ending'> {
  const within = prompt.tokensMax === null ? said : firstTokens(said, prompt.tokensMax)
  const stop = prompt.stops
    .map((sequence) => ({ sequence, at: within.indexOf(sequence) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at)[0]
  if (stop !== undefined) return { text: within.slice(0, stop.at), ending: { kind: 'stop', sequence: stop.sequence } }
  return { text: within, ending: { kind: isCutCall || within.length < said.length ? 'length' : 'end' } }
}

const whole = (dialect: DialectSpec, status: number, body: JsonObject, requestId: string): WholeAnswer => ({
  kind: 'whole',
  status,
  headers: { 'content-type': 'application/json', [dialect.requestIdHeader]: requestId },
  body: Buffer.from(JSON.stringify(body)),
})

export const streamed = (call: RuntimeCall, frames: Iterable<Uint8Array>, delayMs: number, requestId: string): StreamedAnswer => ({
  kind: 'stream',
  status: 200,
  headers: {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    [dialects[call.dialect].requestIdHeader]: requestId,
  },
  chunks: paced(frames, delayMs, call.signal),
})

async function* paced(frames: Iterable<Uint8Array>, delayMs: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let events = 0
  try {
    for (const frame of frames) {
      signal.throwIfAborted()
      yield frame
      events += 1
      if (delayMs > 0) await wait(delayMs, undefined, { signal })
      else if (events % EVENTS_PER_TURN === 0) await turn(undefined, { signal })
    }
  } catch (cause) {
    throw upstream('call_aborted', 'the call was given up before the answer ended', { cause })
  }
}
