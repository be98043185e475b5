/** Asks in generateContent what a client asked in another format. */
import type { Json, JsonObject } from '../../contract/index.ts'
import { isInstruction, type Part, type ResultPart, type Turn } from '../conversation.ts'
import { bySide, effortIn, inlineImage, inputObject, schemaOfTool, unfit, type Asked } from '../translation/asked.ts'
import { Untranslatable } from '../translation/rules.ts'

const EFFORTS = ['minimal', 'low', 'medium', 'high']

/** These models refuse a call in the history without the signature they gave it, which no other format keeps. This word stands for it. */
const SIGNED_MODELS = /^gemini-(?:[3-9]|\d\d)/
const NO_SIGNATURE = 'skip_thought_signature_validator'

export function askGemini(asked: Asked, leftOut: string[]): JsonObject {
  const { turns, tools, hasParallelCalls, names } = asked
  if (hasParallelCalls === false && tools.length > 0)
    throw new Untranslatable(names.parallel, 'several calls at once cannot be forbidden here')
  for (const tool of asked.strictTools) leftOut.push(`strict of the tool ${tool}`)
  const system = turns.filter(({ role }) => isInstruction(role)).flatMap(({ role, parts }) => parts.map((part) => textPart(part, role)))
  const calls = new Map<string | null, string>()
  const config = configOf(asked)
  const isSigned = SIGNED_MODELS.test(asked.model)
  const contents = bySide(
    turns.filter(({ role }) => !isInstruction(role)),
    sideOf,
    (turn) => partsOf(turn, calls, isSigned),
  )
  return {
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
    contents: contents.map(({ side, parts }) => ({ role: side, parts })),
    ...(tools.length > 0 && {
      tools: [
        {
          functionDeclarations: tools.map((tool) => ({
            name: tool.name,
            ...(tool.description !== '' && { description: tool.description }),
            parametersJsonSchema: schemaOfTool(tool),
          })),
        },
      ],
      ...choiceOf(asked),
    }),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
  }
}

function configOf(asked: Asked): JsonObject {
  const { tokensMax, stops, format, sampling, seed, penalties } = asked
  const effort = effortIn(asked, EFFORTS)
  const said: readonly (readonly [string, Json | undefined])[] = [
    ['maxOutputTokens', tokensMax ?? undefined],
    ['stopSequences', stops.length === 0 ? undefined : stops],
    ['temperature', sampling['temperature']],
    ['topP', sampling['top_p']],
    ['topK', sampling['top_k']],
    ['seed', seed?.value],
    ['frequencyPenalty', penalties.frequency?.value],
    ['presencePenalty', penalties.presence?.value],
    ['responseMimeType', format === null ? undefined : 'application/json'],
    ['responseJsonSchema', format?.schema ?? undefined],
    ['thinkingConfig', effort === null ? undefined : { thinkingLevel: effort }],
  ]
  return Object.fromEntries(said.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

function choiceOf({ choice }: Asked): JsonObject {
  if (choice.kind === 'auto') return {}
  const mode = choice.kind === 'none' ? 'NONE' : 'ANY'
  const named = choice.kind === 'named' ? { allowedFunctionNames: [choice.name] } : {}
  return { toolConfig: { functionCallingConfig: { mode, ...named } } }
}

const sideOf = (role: string): 'user' | 'model' => (role === 'assistant' ? 'model' : 'user')

/** Notes the names of calls as they come: some clients use an id again in a later turn. */
function partsOf({ role, parts }: Turn, calls: Map<string | null, string>, isSigned: boolean): readonly JsonObject[] {
  const firstCall = isSigned ? parts.find(({ kind }) => kind === 'call') : undefined
  return parts.flatMap((part) => {
    if (part.kind === 'thinking') return []
    if (part.kind === 'result') return [resultOf(part, calls)]
    if (part.kind === 'image' && role === 'user') return [imageOf(part)]
    if (part.kind !== 'call') return [textPart(part, role)]
    calls.set(part.id, part.name)
    const functionCall = { ...(part.id !== null && { id: part.id }), name: part.name, args: inputObject(part) }
    return [{ functionCall, ...(part === firstCall && { thoughtSignature: NO_SIGNATURE }) }]
  })
}

/** A result names its function here; the call that it belongs to says which. */
function resultOf({ callId, isError, parts }: ResultPart, calls: ReadonlyMap<string | null, string>): JsonObject {
  const name = calls.get(callId)
  if (name === undefined) throw new Untranslatable(`the tool result of ${callId ?? 'no call'}`, 'no call with that id stands before it')
  const text = parts.map((part) => (part.kind === 'text' ? part.text : unfit(part, 'a tool result'))).join('\n')
  return { functionResponse: { ...(callId !== null && { id: callId }), name, response: { [isError ? 'error' : 'result']: text } } }
}

function textPart(part: Part, where: string): JsonObject {
  return part.kind === 'text' || part.kind === 'refusal' ? { text: part.text } : unfit(part, where)
}

function imageOf({ address, where }: Extract<Part, { kind: 'image' }>): JsonObject {
  const inline = inlineImage(address)
  if (inline === null) throw new Untranslatable(where, 'a picture must be sent along here, as a data address')
  return { inlineData: { mimeType: inline.type, data: inline.base64 } }
}
