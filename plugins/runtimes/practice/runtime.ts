/** The practice runtime: a deterministic language model inside the process, in every provider's format, without network or key. */
import type { JsonObject, Runtime, RuntimeCall } from '../../../src/contract/index.ts'
import { JSON_DEPTH_MAX, PRODUCT, upstream } from '../../../src/contract/index.ts'
import { dialects, isObject, parsed, type DialectSpec, type RequestFault } from '../../../src/dialects/index.ts'
import { digest } from './draw.ts'
import { isDeeperThan } from './json.ts'
import type { Prompt, Thought } from './prompt.ts'
import { isFault, readPrompt } from './read-prompt.ts'
import { replyOf } from './reply.ts'
import { streamed, whole } from './send.ts'
import type { Settings } from './settings.ts'
import { think } from './think.ts'
import { countTokens, promptTokens, streamPieces } from './tokens.ts'
import { modelList } from './models.ts'

export const NOTICE = [
  `This is ${PRODUCT}'s practice model: deterministic, embedded, not a real language model.`,
  'Configure an upstream to use a real one.',
].join(' ')

/** `clock` gives seconds since the epoch. */
export function makePractice(settings: Settings, clock: () => number): Runtime {
  let answers = 0
  let isNoticeDue = true

  /** The first answer to a person says what it comes from, unless the words would not fit, would break JSON or would spoil a score. */
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
      const id = requestId(seed)
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
      return whole(dialects.chat, 200, modelList(call.model.model), requestId(digest(call.path)))
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

/** An evaluation is known by its purpose, and by its address where a recipe calls the runtime itself. */
const isEvaluation = (call: RuntimeCall): boolean => call.purpose === 'evaluation' || call.path.includes('/evaluation/')

const unreadable = (message: string): RequestFault => ({ message, param: null, code: null })

const requestId = (seed: string): string => `req_${seed.slice(0, 24)}`

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw upstream('call_aborted', 'the call was given up before the model answered', { cause: signal.reason })
}
