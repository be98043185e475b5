/** Gemini's generateContent, and the count of its tokens. The model and whether the answer is streamed stand in the path. */
import { PRODUCT, type JsonObject } from '../../contract/index.ts'
import { countContentBodySchema, geminiErrorSchema, generateContentBodySchema } from '../../contract/wire/index.ts'
import { chatPromptOf, chatRequestOf } from '../chat-request.ts'
import { errorIn, widestLimit, type DialectSpec } from '../dialect.ts'
import { choiceFault, fault, type RequestFault } from '../faults.ts'
import { filledText, isObject, listOf, objectOf } from '../values.ts'
import { askGemini } from './ask.ts'
import { geminiBesides, geminiConversation, geminiFields } from './fields.ts'
import { GeminiHearing } from './hear.ts'
import { GEMINI_MODELS, geminiReader, geminiRoute, memberOf, spellingsOf } from './read.ts'
import { GeminiSaying } from './say.ts'
import { GeminiReader } from './stream.ts'
import { geminiFrames, writeGemini, writeGeminiRequest } from './write.ts'

const STREAM = ':streamGenerateContent'

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
}

export const gemini: DialectSpec = {
  name: 'gemini',
  format: 'gemini',
  paths: [`${GEMINI_MODELS}/:model:generateContent`, `${GEMINI_MODELS}/:model${STREAM}`],
  ownsPath: (path) => geminiRoute(path).includes(`${GEMINI_MODELS}/`),
  pathFault: (path) => {
    const [called = '', query = ''] = path.split('?', 2)
    if (!called.endsWith(STREAM) || new URLSearchParams(query).get('alt') === 'sse') return null
    return fault('alt: streams are sent as events here; ask with ?alt=sse', 'alt', 'alt_not_sse')
  },
  provider: 'gcp.gemini',
  operation: 'chat',
  requestIdHeader: 'x-request-id',
  keyHeaders: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  defaultHeaders: {},
  facts: ['generationConfig', 'generation_config'],
  seedAt: [['generationConfig', 'generation_config'], ['seed']],
  settingsIn(facts) {
    const configs = spellingsOf(facts, 'generationConfig').map(objectOf)
    return {
      maxTokens: widestLimit(configs.flatMap((config) => spellingsOf(config, 'maxOutputTokens'))),
      temperature: objectOf(memberOf(facts, 'generationConfig'))['temperature'],
    }
  },
  answer: {
    model: 'modelVersion',
    id: 'responseId',
    usage: 'usageMetadata',
    inputTokens: ['promptTokenCount', 'toolUsePromptTokenCount'],
    outputTokens: ['candidatesTokenCount', 'thoughtsTokenCount'],
  },
  openApi: { name: 'Content', words: 'generated content', body: generateContentBodySchema, error: geminiErrorSchema },
  finishReasons: (answer) => geminiReader.readAnswer(answer).map(({ stop }) => stop),
  // The shape has room for a code of ours in its details.
  writeError: (status, { message, code = null }) => ({
    error: {
      code: status,
      message,
      status: STATUSES[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL'),
      ...(filledText(code) !== null && {
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code, domain: PRODUCT }],
      }),
    },
  }),
  isError(said) {
    const error = errorIn(said)
    return error !== null && typeof error['code'] === 'number' && filledText(error['status']) !== null
  },
  isEvent: ({ candidates, promptFeedback }) => Array.isArray(candidates) || isObject(promptFeedback),
  openStream: () => new GeminiReader(),
  reader: geminiReader,
  renamePath: (path, model) => path.replace(/(?<=\/models\/)[^/:?]+(?=:\w+(?:\?|$))/, () => encodeURIComponent(model)),
  modelIn: (path) => decoded(/\/models\/([^/:?]+):\w+(?:\?|$)/.exec(path)?.[1] ?? ''),
  isStreamed: (path) => /:streamGenerateContent(?:\?|$)/.test(path),
  faultIn,
  chatRequest: (body) => chatRequestOf(geminiReader.read(body)),
  idCharacters: 24,
  writeAnswer: writeGemini,
  frames: geminiFrames,
  writeRequest: writeGeminiRequest,
  asClient: {
    fields: geminiFields,
    besides: geminiBesides,
    conversation: geminiConversation,
    headers: ['x-goog-api-client', 'x-goog-user-project'],
    say: (to) => new GeminiSaying(to),
  },
  asUpstream: {
    ask: askGemini,
    path: (model, isStreamed) => `${GEMINI_MODELS}/${encodeURIComponent(model)}${isStreamed ? `${STREAM}?alt=sse` : ':generateContent'}`,
    hear: () => new GeminiHearing(),
    count: {
      dialect: 'gemini_count_tokens',
      path: (model) => `${GEMINI_MODELS}/${encodeURIComponent(model)}:countTokens`,
      ask: (model, body) => ({ generateContentRequest: { model: `models/${model}`, ...body } }),
      tokensIn: ({ totalTokens }) => (Number.isSafeInteger(totalTokens) && Number(totalTokens) >= 0 ? Number(totalTokens) : null),
    },
  },
}

const { openStream: _never, pathFault: _none, seedAt: _neither, asClient: _not, asUpstream: _nor, ...shared } = gemini

export const geminiCount: DialectSpec = {
  ...shared,
  name: 'gemini_count_tokens',
  paths: [`${GEMINI_MODELS}/:model:countTokens`],
  operation: 'count_tokens',
  openApi: { ...gemini.openApi, name: 'ContentCount', words: 'a token count', body: countContentBodySchema },
  isStreamed: () => false,
  faultIn: (body, model) => faultIn(objectOf(memberOf(body, 'generateContentRequest') ?? body), model),
  chatRequest: (body) => chatPromptOf(geminiReader.read(body)),
  writeCount: (tokens) => ({ totalTokens: tokens }),
}

function faultIn(body: JsonObject, model: string): RequestFault | null {
  const contents = body['contents']
  if (model === '') return fault('model: name the model in the path')
  if (contents === undefined || (Array.isArray(contents) && contents.length === 0))
    return fault('* GenerateContentRequest.contents: contents is not specified')
  const at = Array.isArray(contents) ? listOf(contents).findIndex((content) => !isObject(content)) : isObject(contents) ? -1 : 0
  if (at !== -1) return fault(`Invalid value at 'contents[${at}]': expected an object`)
  const limit = memberOf(objectOf(memberOf(body, 'generationConfig')), 'maxOutputTokens')
  if (limit !== undefined && limit !== null && !(typeof limit === 'number' && Number.isInteger(limit) && limit > 0))
    return fault("Invalid value at 'generation_config.max_output_tokens': expected a whole number above 0")
  const found = choiceFault(geminiReader.read(body))
  if (found === null) return null
  if (found.missing === 'named') return fault(`allowed_function_names: no function '${found.name}' is declared`)
  return fault('Function calling config is set without function_declarations.')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
