/** Reads Gemini's generateContent. Its JSON is a protocol buffer's: every member may be spelt in camel or in snake case. */
import type { Json, JsonObject } from '../../contract/index.ts'
import type { AnswerTurn, Conversation, Part, Tool, ToolChoice, Turn, DialectReader } from '../conversation.ts'
import { dataAddress, readLimit, readStops } from '../typed-parts.ts'
import { isList, isObject, listOf, objectOf, objectsOf, textOf, wordsAt } from '../values.ts'

export const inSnakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The member under its own name, or under the same name in snake case. */
export const memberOf = (value: JsonObject, name: string): Json | undefined => value[name] ?? value[inSnakeCase(name)]

/** The member under each of its names: a request may have both. */
export const spellingsOf = (value: JsonObject, name: string): readonly (Json | undefined)[] => [value[name], value[inSnakeCase(name)]]

/** Where the models of the format are. */
export const GEMINI_MODELS = '/v1beta/models'

const OTHER_MODELS = /^(.*\/evaluation)?(?:\/v1)?\/models(?=\/[^/?]+:\w+(?:Contents?|Tokens)(?:\?|$))/

/** The path of the route: newer clients ask below `/v1`, and some below no version. */
export const geminiRoute = (path: string): string => path.replace(OTHER_MODELS, `$1${GEMINI_MODELS}`)

export const geminiReader: DialectReader = {
  title: 'generateContent',
  askPath: (model) => `${GEMINI_MODELS}/${encodeURIComponent(model)}:generateContent`,
  usage: 'usageMetadata',
  instructions: ['systemInstruction', 'system_instruction'],
  isExchange: ({ contents }, { candidates }) => Array.isArray(candidates) || contents !== undefined,
  read: (body) => readConversation(objectOf(memberOf(body, 'generateContentRequest') ?? body)),
  readAnswer(answer) {
    const candidates = objectsOf(answer['candidates'])
    if (candidates.length > 0) return candidates.map(readCandidate)
    const blocked = wordsAt(objectOf(answer['promptFeedback']), 'blockReason')
    return blocked === null ? [] : [{ role: 'assistant', parts: [], stop: blocked }]
  },
}

function readConversation(body: JsonObject): Conversation {
  const config = objectOf(memberOf(body, 'generationConfig'))
  const calling = objectOf(memberOf(objectOf(memberOf(body, 'toolConfig')), 'functionCallingConfig'))
  const system = partsOf(memberOf(body, 'systemInstruction'), 'systemInstruction')
  const contents = body['contents']
  const turns = (isList(contents) ? contents : [contents ?? null]).flatMap((content, at) => readTurn(content, `contents.${at}`))
  return {
    turns: system.length === 0 ? turns : [{ role: 'system', parts: system }, ...turns],
    tools: objectsOf(body['tools']).flatMap(readTools),
    choice: readCalling(calling),
    hasParallelCalls: null,
    tokensMax: readLimit(memberOf(config, 'maxOutputTokens')),
    stops: readStops(memberOf(config, 'stopSequences')),
    format: readFormat(config),
    sampling: sampling(config),
  }
}

const ROLES: Readonly<Record<string, string>> = { model: 'assistant', function: 'tool', '': 'user' }

function readTurn(content: Json, where: string): readonly Turn[] {
  if (content === null) return []
  const role = isObject(content) ? textOf(content['role']) : ''
  return [{ role: Object.hasOwn(ROLES, role) ? (ROLES[role] ?? role) : role, parts: partsOf(content, `${where}.parts`) }]
}

function readCandidate(candidate: JsonObject): AnswerTurn {
  return {
    role: 'assistant',
    parts: partsOf(candidate['content'] ?? null, 'content.parts'),
    stop: wordsAt(candidate, 'finishReason'),
  }
}

/** A content is an object with parts; clients may also send a text, or a list of parts. */
function partsOf(content: Json | undefined, where: string): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  const parts = isObject(content) ? (content['parts'] ?? content) : content
  return (isList(parts) ? parts : [parts ?? null]).flatMap((part, at) => partOf(part, `${where}.${at}`))
}

function partOf(part: Json, where: string): readonly Part[] {
  if (typeof part === 'string') return part === '' ? [] : [{ kind: 'text', text: part }]
  if (!isObject(part) || Object.keys(part).length === 0) return []
  const { text } = part
  if (typeof text === 'string') return text === '' ? [] : [{ kind: part['thought'] === true ? 'thinking' : 'text', text }]
  const [call, response] = [memberOf(part, 'functionCall'), memberOf(part, 'functionResponse')]
  if (isObject(call)) return [callPart(call)]
  if (isObject(response)) return [resultPart(response)]
  return [mediaPart(part, where)]
}

/** Calls rarely have ids here: a result names the function that it is of. */
const callPart = (call: JsonObject): Part => ({
  kind: 'call',
  id: wordsAt(call, 'id') ?? wordsAt(call, 'name'),
  name: wordsAt(call, 'name') ?? 'unnamed',
  input: call['args'] ?? {},
  isCustom: false,
})

function resultPart(result: JsonObject): Part {
  const response = objectOf(result['response'])
  const said = response['result'] ?? response['output'] ?? response['error']
  const value = typeof said === 'string' ? said : response
  return {
    kind: 'result',
    callId: wordsAt(result, 'id') ?? wordsAt(result, 'name'),
    isError: response['error'] !== undefined,
    parts: [{ kind: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
    value,
  }
}

function mediaPart(part: JsonObject, where: string): Part {
  const inline = objectOf(memberOf(part, 'inlineData'))
  const file = objectOf(memberOf(part, 'fileData'))
  const type = textOf(memberOf(inline, 'mimeType') ?? memberOf(file, 'mimeType'))
  const address = dataAddress(type, wordsAt(inline, 'data')) ?? (textOf(memberOf(file, 'fileUri')) || null)
  if (type.startsWith('image/') && address !== null) return { kind: 'image', address, type: 'image', where }
  return { kind: 'other', type: type === '' ? (Object.keys(part)[0] ?? 'unknown') : 'file', value: part, where }
}

function readTools(tool: JsonObject): readonly Tool[] {
  const declared = memberOf(tool, 'functionDeclarations')
  if (!isList(declared))
    return Object.keys(tool).map((name) => ({ name, description: '', parameters: {}, shape: 'hosted', namespace: null }))
  return objectsOf(declared).map((own) => ({
    name: wordsAt(own, 'name') ?? 'unnamed',
    description: textOf(own['description']),
    parameters: objectOf(memberOf(own, 'parametersJsonSchema') ?? schemaOf(own['parameters'] ?? {})),
    shape: 'function',
    namespace: null,
  }))
}

/** Types are written in capitals here; JSON schema has them in small letters. */
function schemaOf(schema: Json): Json {
  if (isList(schema)) return schema.map(schemaOf)
  if (!isObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === 'type' && typeof value === 'string' ? value.toLowerCase() : schemaOf(value),
    ]),
  )
}

function readCalling(config: JsonObject): ToolChoice {
  const mode = textOf(config['mode'])
  const [name, ...others] = listOf(memberOf(config, 'allowedFunctionNames'))
  if (mode === 'NONE') return { kind: 'none' }
  if (mode !== 'ANY') return { kind: 'auto' }
  return typeof name === 'string' && others.length === 0 ? { kind: 'named', name } : { kind: 'required' }
}

function readFormat(config: JsonObject): Conversation['format'] {
  if (memberOf(config, 'responseMimeType') !== 'application/json') return null
  const schema = memberOf(config, 'responseJsonSchema') ?? schemaOf(memberOf(config, 'responseSchema') ?? null)
  return { schema: isObject(schema) ? schema : null }
}

function sampling(config: JsonObject): JsonObject {
  const named: readonly (readonly [string, Json | undefined])[] = [
    ['temperature', config['temperature']],
    ['top_p', memberOf(config, 'topP')],
    ['top_k', memberOf(config, 'topK')],
    ['seed', config['seed']],
  ]
  return Object.fromEntries(named.flatMap(([name, value]) => (typeof value === 'number' ? [[name, value]] : [])))
}
