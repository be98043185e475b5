/** For any JSON object: forwarded is what was received, and kept is what was forwarded. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/contract/index.ts'
import { sendJson } from '../support/upstream.ts'
import { sharedWorld } from '../support/world.ts'

const here = sharedWorld()

const ROUTES = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/messages/count_tokens']
const RESPONSE = { id: 'x' }

/** Keys that the service itself writes come up often. `__proto__` cannot be compared by equality and has a test of its own. */
const key = fc
  .oneof(fc.string(), fc.constantFrom('metadata', 'metadata_tags', 'response', 'tags', 'messages', 'model'))
  .filter((name) => name !== '__proto__')
const body: fc.Arbitrary<JsonObject> = fc
  .dictionary(key, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true })
  .filter((fields) => fields['stream'] !== true)
  .map((fields): JsonObject => JSON.parse(JSON.stringify(fields)))
/** A body as some client may print it. */
const printed = fc
  .tuple(body, fc.constantFrom(0, 2, '\t'))
  .map(([fields, indent]) => ({ fields, text: JSON.stringify(fields, null, indent) }))
const tagName = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/)
const tags = fc.dictionary(tagName, fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/), { noNullPrototype: true, maxKeys: 4 })

/** The rule of the stored payload, said once more in other words. */
function expected(fields: JsonObject, sent: Readonly<Record<string, string>>): JsonObject {
  const { metadata } = fields
  const all: Record<string, Json> = { ...fields, response: RESPONSE }
  if (Object.keys(sent).length === 0) return all
  if (metadata !== undefined && !isObject(metadata)) return { ...all, metadata_tags: sent }
  const before = metadata?.['tags']
  return { ...all, metadata: { ...metadata, tags: { ...(isObject(before) ? before : {}), ...sent } } }
}

it('any JSON object is forwarded as received and kept with its answer and its tags [decisions.inference-bytes] [decisions.inference-payload] [inference.tags]', async () => {
  here.upstream.answer((_received, response) => sendJson(response, 200, RESPONSE))
  await fc.assert(
    fc.asyncProperty(printed, tags, fc.constantFrom(...ROUTES), async ({ fields, text }, sent, path) => {
      const headers = Object.fromEntries(Object.entries(sent).map(([name, value]) => [`x-svc-tag-${name}`, value]))
      const answer = await here.post(path, text, { 'x-svc-scenario': 'any', ...headers })
      expect(answer.status).toBe(200)
      expect(here.upstream.received.at(-1)?.body.toString()).toBe(text)
      const record = await here.get(`/svc/scenarios/any/records/${String(answer.headers['x-svc-agent-record-id'])}`)
      expect(record.json['payload']).toEqual(expected(fields, sent))
    }),
    { numRuns: 300 },
  )
})

it('any bytes are a 200 or a 400, and never a failure of the service', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), fc.constantFrom(...ROUTES), async (bytes, path) => {
      const answer = await here.post(path, bytes, { 'x-svc-scenario': 'bytes' })
      expect([200, 400]).toContain(answer.status)
    }),
    { numRuns: 200 },
  )
  expect(here.log.filter(({ event }) => event === 'failure')).toEqual([])
})
