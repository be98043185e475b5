/** Arbitrary bodies, queries and headers at every plain route: a success or an error of the table, never an internal failure. */
import * as fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { routes } from '../../src/http/routes.ts'
import { sharedWorld } from '../support/world.ts'
import { importInference } from './support/helpers.ts'

/** What the table of errors and the wire allow; 501 and 503 are answers of the table, 500 and 502 would be ours to explain. */
const TABLE = new Set([200, 201, 400, 401, 404, 405, 409, 413, 426, 431, 501])

const here = sharedWorld({ settings: { 'svc.max_scenarios': 40 } })
beforeAll(async () => {
  await importInference(here, 'known', 'first')
})

/** Fields that routes read, so that arbitrary values reach further than the first check. */
const field = fc.constantFrom(
  ...`agent_record_id request_type payload records score feedback references metadata training eligible name release_id recipe
    model url api api_key training_mode text session requires stream __proto__ toString`.split(/\s+/),
)
const word = fc.oneof(
  fc.constantFrom('inference', 'report', 'train', 'first', 'known', 'auto', 'manual', 'record-only', ''),
  fc.string({ unit: 'binary', maxLength: 30 }),
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    word,
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(fc.oneof(field, fc.string({ maxLength: 8 })), tie('value'), { maxKeys: 6 }),
}))
const body = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(field, value, { maxKeys: 6 }).map((object) => JSON.stringify(object)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
)
const parameter = fc.constantFrom(...`limit after_sequence after_step request_type record_id release_id adapter scenario path`.split(/\s+/))
const query = fc
  .array(fc.tuple(parameter, fc.oneof(word, fc.integer().map(String))), { maxLength: 3 })
  .map((pairs) => pairs.map(([key, text]) => `${key}=${encodeURIComponent(text.toWellFormed())}`).join('&'))
const segment = fc.oneof(fc.constantFrom('known', 'first', '0'), fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }))
const scenario = fc.oneof(fc.constantFrom('known', 'fresh', ''), fc.string({ maxLength: 12 }))

const plainRoutes = routes.filter(({ run, path }) => 'plain' in run && path !== '/v1/models')

it.each(plainRoutes)('$method $path answers anything with a status of the table', async ({ method, path }) => {
  const request = fc.record({ body, query, segments: fc.tuple(segment, segment), scenario })
  await fc.assert(
    fc.asyncProperty(request, async ({ body: text, query: asked, segments, scenario: name }) => {
      const parts = [...segments]
      const filled = path.replaceAll(/:\w+/g, () => encodeURIComponent((parts.shift() ?? '').toWellFormed()))
      const answer = await here.ask(method, `${filled}?${asked}`, {
        // The install route answers with scripts where JSON is not asked for.
        headers: { 'x-svc-scenario': Buffer.from(name).toString('latin1'), accept: 'application/json' },
        ...(method === 'POST' && { body: text }),
      })
      expect({ status: answer.status, isOfTheTable: TABLE.has(answer.status), text: answer.text }).toMatchObject({ isOfTheTable: true })
      if (answer.status >= 400)
        expect(answer.json).toMatchObject({ error: { message: expect.any(String), code: expect.stringMatching(/^[a-z_]+$/) } })
    }),
    { numRuns: 40 },
  )
  expect(here.log.filter(({ event }) => event === 'failure')).toEqual([])
})
