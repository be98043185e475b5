/** Chats of both HTTP engines: the request never streams and has one choice, and the answer names the requested model. */
import type { Json, JsonObject } from '../../../src/contract/index.ts'
import { objectOf, objectsOf } from '../../../src/dialects/index.ts'

/** The members of `own`, such as `model`, replace the client's. */
export function requestOf(body: JsonObject, own: JsonObject): JsonObject {
  const { stream_options: _, ...rest } = body
  return { ...rest, stream: false, n: 1, logprobs: true, ...own }
}

/** The answer without what only this service asked for. */
export function givenOn(answer: JsonObject, body: JsonObject, ownKeys: readonly string[]): JsonObject {
  const choices = objectsOf(answer['choices']).map((choice) => ({
    ...without(choice, ownKeys),
    logprobs: body['logprobs'] === true ? (choice['logprobs'] ?? null) : null,
  }))
  return { ...without(answer, ownKeys), model: body['model'] ?? answer['model'] ?? null, choices }
}

const without = (value: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))

export const firstChoice = (answer: JsonObject): JsonObject => objectOf(objectsOf(answer['choices'])[0])

export const defined = (value: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [[key, member]])))
