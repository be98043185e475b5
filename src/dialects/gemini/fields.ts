/** What of a generateContent request can be translated. */
import type { Json, JsonObject } from '../../contract/index.ts'
import type { CallPart, Conversation, Part, ResultPart } from '../conversation.ts'
import { isNumber } from '../digits.ts'
import { NOTHING_BESIDES, type AskedBesides } from '../translation/asked.ts'
import { fields, flag, hint, limit, list, number, object, only, read, text, Untranslatable, type Rule } from '../translation/rules.ts'
import { isList, listOf, objectOf, textOf } from '../values.ts'
import { geminiReader, inSnakeCase, memberOf } from './read.ts'

/** Every member may be spelt in camel or in snake case, and stands there once. */
function spelt(rules: Readonly<Record<string, Rule>>): Rule {
  const either = fields({ ...rules, ...Object.fromEntries(Object.entries(rules).map(([name, rule]) => [inSnakeCase(name), rule])) })
  return (value, where, leftOut) => {
    either(value, where, leftOut)
    const members = objectOf(value)
    const twice = Object.keys(rules).find(
      (name) => inSnakeCase(name) !== name && isSaid(members, name) && isSaid(members, inSnakeCase(name)),
    )
    if (twice !== undefined) throw new Untranslatable(within(where, inSnakeCase(twice)), `it stands there as ${twice} too`)
  }
}

const isSaid = (members: JsonObject, name: string): boolean => (members[name] ?? null) !== null
const within = (where: string, name: string): string => (where === '' ? name : `${where}.${name}`)

const oneOrMore =
  (rule: Rule): Rule =>
  (value, where, leftOut) =>
    (isList(value) ? list(rule) : rule)(value, where, leftOut)

const CARRIERS = ['text', 'functionCall', 'functionResponse', 'inlineData']

const anyPart = spelt({
  text,
  thought: flag,
  thoughtSignature: hint,
  functionCall: spelt({ id: text, name: text, args: object }),
  functionResponse: spelt({ id: text, name: text, response: object }),
  inlineData: spelt({ mimeType: text, data: text, displayName: hint }),
})

/** A thought of an earlier turn is left out; any other part carries one thing. */
const part: Rule = (value, where, leftOut) => {
  const isThought = objectOf(value)['thought'] === true
  anyPart(value, where, isThought ? [] : leftOut)
  if (isThought) return hint(value, where, leftOut)
  const carried = CARRIERS.filter((name) => (memberOf(objectOf(value), name) ?? null) !== null)
  if (carried.length !== 1) throw new Untranslatable(where, `it must have one of ${CARRIERS.join(', ')}`)
}

const content = spelt({ role: only('user', 'model', 'function'), parts: oneOrMore(part) })
const instruction = spelt({ role: read, parts: oneOrMore(spelt({ text })) })

const declared = spelt({
  name: text,
  description: text,
  parameters: object,
  parametersJsonSchema: object,
  response: hint,
  responseJsonSchema: hint,
  behavior: only('UNSPECIFIED', 'BLOCKING'),
})

const callingMembers = spelt({ mode: only('MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE'), allowedFunctionNames: list(text) })

/** Other formats let all tools be called, none, or a single one. */
const calling: Rule = (value, where, leftOut) => {
  callingMembers(value, where, leftOut)
  const names = listOf(memberOf(objectOf(value), 'allowedFunctionNames'))
  if (names.length > 1 || (names.length === 1 && objectOf(value)['mode'] !== 'ANY'))
    throw new Untranslatable(`${where}.allowedFunctionNames`, 'it can only be one name here, with the mode ANY')
}

const configMembers = spelt({
  maxOutputTokens: limit,
  stopSequences: list(text),
  temperature: number,
  topP: number,
  topK: number,
  seed: number,
  frequencyPenalty: number,
  presencePenalty: number,
  responseMimeType: only('text/plain', 'application/json'),
  responseJsonSchema: object,
  responseSchema: object,
  candidateCount: only(1),
  responseLogprobs: only(false),
  responseModalities: only([], ['TEXT']),
  thinkingConfig: spelt({ thinkingLevel: text, includeThoughts: hint, thinkingBudget: hint }),
  mediaResolution: hint,
})

const config: Rule = (value, where, leftOut) => {
  configMembers(value, where, leftOut)
  const members = objectOf(value)
  const schema = ['responseJsonSchema', 'responseSchema'].find((name) => (memberOf(members, name) ?? null) !== null)
  if (schema !== undefined && memberOf(members, 'responseMimeType') !== 'application/json')
    throw new Untranslatable(`${where}.${schema}`, 'it needs the responseMimeType application/json')
}

export const geminiFields: Rule = spelt({
  model: text,
  contents: oneOrMore(content),
  systemInstruction: instruction,
  tools: list(spelt({ functionDeclarations: list(declared) })),
  toolConfig: spelt({ functionCallingConfig: calling }),
  generationConfig: config,
  // Other providers have no filter that a client sets: only the wish for none can be met.
  safetySettings: list(spelt({ category: text, threshold: only('BLOCK_NONE', 'OFF') })),
  labels: hint,
  serviceTier: hint,
})

export function geminiBesides(body: JsonObject): AskedBesides {
  const settings = objectOf(memberOf(body, 'generationConfig'))
  const level = textOf(memberOf(objectOf(memberOf(settings, 'thinkingConfig')), 'thinkingLevel'))
  const said = (name: string): { readonly where: string; readonly value: Json } | null => {
    const value = memberOf(settings, name)
    return isNumber(value) ? { where: `generationConfig.${name}`, value } : null
  }
  return {
    ...NOTHING_BESIDES,
    names: { stops: 'generationConfig.stopSequences', format: 'generationConfig.responseMimeType', parallel: 'tools' },
    // The official clients write it in capitals.
    effort: level === '' ? null : { where: 'generationConfig.thinkingConfig.thinkingLevel', value: level.toLowerCase() },
    seed: said('seed'),
    penalties: { frequency: said('frequencyPenalty'), presence: said('presencePenalty') },
  }
}

/** With an id of its own for every call: here calls may have none, and a result names the function that it is of. */
export function geminiConversation(body: JsonObject): Conversation {
  const { turns, sampling, ...rest } = geminiReader.read(body)
  const { seed: _besides, ...sampled } = sampling
  const ids = new CallIds()
  return {
    ...rest,
    turns: turns.map(({ role, parts }) => ({ role, parts: parts.map((one) => ids.given(one)) })),
    sampling: sampled,
  }
}

class CallIds {
  readonly #taken = new Set<string>()
  #waiting: { readonly said: string; readonly name: string; readonly id: string }[] = []

  given(one: Part): Part {
    if (one.kind === 'call') return this.#ofCall(one)
    return one.kind === 'result' ? this.#ofResult(one) : one
  }

  #ofCall(call: CallPart): CallPart {
    const said = call.id ?? call.name
    let id = said
    for (let count = 2; this.#taken.has(id); count += 1) id = `${said}_${count}`
    this.#taken.add(id)
    this.#waiting.push({ said, name: call.name, id })
    return { ...call, id }
  }

  /** The first call that waits for it: by its id, else by the name of its function. */
  #ofResult(result: ResultPart): ResultPart {
    const of = this.#waiting.find(({ said }) => said === result.callId) ?? this.#waiting.find(({ name }) => name === result.callId)
    if (of === undefined)
      throw new Untranslatable(`the functionResponse of ${result.callId ?? 'no call'}`, 'no call of it stands before it')
    this.#waiting = this.#waiting.filter((one) => one !== of)
    return { ...result, callId: of.id }
  }
}
