/** Where a seed stands in a request of each format, and what of the request stays as it was. */
import { expect, it } from 'vitest'
import { dialectOfCall, dialects, withSeed } from './index.ts'

const seeded = (name: 'chat' | 'gemini' | 'messages' | 'responses', body: string) =>
  withSeed(dialects[name], Buffer.from(body), 7)?.toString() ?? null

it.each([
  ['chat', '{}', '{"seed":7}'],
  ['chat', ' { "n": 1.00, "messages": ["\\u00e9"] }', '{"n": 1.00, "messages": ["\\u00e9"],"seed":7}'],
  ['chat', '{"seed":null,"n":1}', '{"n":1,"seed":7}'],
  ['chat', '{"metadata":{"seed":1}}', '{"metadata":{"seed":1},"seed":7}'],
  ['gemini', '{"contents":[]}', '{"contents":[],"generationConfig":{"seed":7}}'],
  ['gemini', '{"generationConfig":{"topP":1.0}}', '{"generationConfig":{"topP":1.0,"seed":7}}'],
  ['gemini', '{"generation_config":{}}', '{"generation_config":{"seed":7}}'],
] as const)('is written into a request of %s: %s', (name, body, expected) => {
  expect(seeded(name, body)).toBe(expected)
})

it.each([
  ['chat', '{"seed":0}'],
  ['chat', '{"seed":"mine"}'],
  ['chat', '[{}]'],
  ['chat', '{"seed"'],
  ['chat', ''],
  ['gemini', '{"generationConfig":{"seed":1}}'],
  ['gemini', '{"generationConfig":[]}'],
  ['gemini', '{"generationConfig":{},"generation_config":{}}'],
  ['messages', '{}'],
  ['responses', '{}'],
] as const)('is not written into a request of %s that has one, is none, or has no place for it: %s', (name, body) => {
  expect(seeded(name, body)).toBeNull()
})

it.each([
  ['/v1/chat/completions', 'chat'],
  ['/v1/messages?beta=true', 'messages'],
  ['/v1/messages/count_tokens', 'count_tokens'],
  ['/v1beta/models/some-model:streamGenerateContent?alt=sse', 'gemini'],
  ['/v1beta/models/some-model:countTokens', 'gemini_count_tokens'],
  ['/svc/scenarios/s/evaluation/v1/models/some-model:generateContent', 'gemini'],
  ['/models/some-model:streamGenerateContent?alt=sse', 'gemini'],
  ['/v1/models', undefined],
  ['/v1/models/ft:some-model:org::id', undefined],
])('the call %s is of the format %s', (path, name) => {
  expect(dialectOfCall(path)?.name).toBe(name)
})
