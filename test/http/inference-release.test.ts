/** Releases and inference: which release a record names, which one a response announces, and what hooks may do. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { heldStore } from '../fixtures/held-store.ts'
import { seen } from '../fixtures/recipes.ts'
import { recordsOf } from '../support/kept.ts'
import { answerPlainly, sendJson } from '../support/upstream.ts'
import { sharedWorld, type Answer } from '../support/world.ts'

const RECIPES = ['pulled', 'pulledAndHooked', 'pulledAndTrained', 'hooked']
const NEXT = { release_id: 'next-release' }

const uses = RECIPES.map((name) => [`recipes.${name}.use`, `./test/fixtures/recipes.ts#${name}`] as const)
const here = sharedWorld({
  settings: {
    'storage.record_backend': './test/fixtures/held-store.ts',
    recipe: 'pulled',
    'recipes.plain.use': 'record-only',
    ...Object.fromEntries(uses),
  },
})
const first = new Map<string, string>()

/** A scenario of every recipe, each with two releases, the newer one served. */
beforeAll(async () => {
  for (const name of [...RECIPES, 'plain']) {
    const { json } = await here.post('/svc/scenarios', { name, recipe: name })
    const start = textOf(json['release_id'])
    first.set(name, start)
    // Its content is unpacked, as for serving weights.
    await heldStore()
      .store.scenario(name)
      .commit(published(start, textOf(json['content_id'])))
  }
  await here.restart()
})
beforeEach(() => {
  seen.length = 0
  here.upstream.answer(answerPlainly)
})

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const published = (parent: string, content_id: string) => ({
  step: 1,
  operation: 'train' as const,
  recorded_at: 1,
  release: { ...NEXT, content_id, parent_release_id: parent },
  pending: false,
  outcome: 'published' as const,
  consumed_ids: [],
  metrics: {},
  state: {},
})

const PATHS = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/messages/count_tokens']
const ask = (scenario: string, body: object, headers: Readonly<Record<string, string>> = {}, path = PATHS[0] ?? ''): Promise<Answer> =>
  here.post(path, body, { 'x-svc-scenario': scenario, ...headers })
const newest = async (scenario: string): Promise<JsonObject | undefined> => (await recordsOf(here, scenario)).at(-1)

describe('the release a record names', () => {
  it('is the one its client has installed, where clients pull files and nothing of a release acts here [inference.tag-release]', async () => {
    const installed = first.get('pulled') ?? ''
    await ask('pulled', {}, { 'x-svc-tag-release': installed })
    expect(await newest('pulled')).toMatchObject({ artifact_ref: installed, payload: { metadata: { tags: { release: installed } } } })
    await ask('pulled', {}, { 'x-svc-tag-release': NEXT.release_id })
    expect(await newest('pulled')).toMatchObject({ artifact_ref: NEXT.release_id })
  })

  it('is the one its client has installed for a stream too [inference.tag-release]', async () => {
    const installed = first.get('pulled') ?? ''
    await ask('pulled', { stream: true }, { 'x-svc-tag-release': installed })
    expect(await newest('pulled')).toMatchObject({ artifact_ref: installed, payload: { response: { complete: true } } })
  })

  it.each([
    ['plain', 'the scenario serves no files'],
    ['hooked', 'it serves no files and has hooks'],
    ['pulledAndHooked', 'its surface has hooks'],
    ['pulledAndTrained', 'it serves weights'],
  ])('is the served one on %s, since %s [inference.tag-release]', async (scenario) => {
    await ask(scenario, {}, { 'x-svc-tag-release': first.get(scenario) ?? '' })
    expect(await newest(scenario)).toMatchObject({ artifact_ref: NEXT.release_id })
  })

  it('is the served one when the tag is unknown, blank or absent [inference.tag-release]', async () => {
    for (const headers of [{ 'x-svc-tag-release': 'unknown' }, { 'x-svc-tag-release': ' ' }, { 'x-svc-tag-other': 'x' }, {}]) {
      await ask('pulled', {}, headers)
      expect(await newest('pulled')).toMatchObject({ artifact_ref: NEXT.release_id })
    }
  })

  it('says nothing about which release answers [inference.tag-release-serving] [inference.serves-current]', async () => {
    await ask('hooked', {}, { 'x-svc-tag-release': first.get('hooked') ?? '', 'x-svc-release-id': first.get('hooked') ?? '' })
    expect(seen).toEqual([`begin ${NEXT.release_id}`, `prepare chat ${NEXT.release_id}`, 'let go', `verify chat ${NEXT.release_id}`])
  })
})

describe('the x-svc-release-id of a response', () => {
  it.each(PATHS)('is the served release where files are served, also on streams and refusals: %s [inference.rule-7]', async (path) => {
    expect((await ask('pulled', {}, { 'x-svc-tag-release': first.get('pulled') ?? '' }, path)).headers['x-svc-release-id']).toBe(
      NEXT.release_id,
    )
    if (!path.endsWith('count_tokens')) {
      const stream = await ask('pulled', { stream: true }, {}, path)
      expect(stream.headers['content-type']).toBe('text/event-stream')
      expect(stream.headers['x-svc-release-id']).toBe(NEXT.release_id)
    }
    here.upstream.answer((_received, response) => sendJson(response, 429, { error: { message: 'slow down' } }))
    const refused = await ask('pulled', {}, {}, path)
    expect(refused.status).toBe(429)
    expect(refused.headers['x-svc-release-id']).toBe(NEXT.release_id)
  })

  it.each(PATHS)('is absent where no files are served, and on evaluation routes [inference.rule-7]: %s', async (path) => {
    expect((await ask('plain', {}, {}, path)).headers).not.toHaveProperty('x-svc-release-id')
    const evaluated = await here.post(`/svc/scenarios/pulled/evaluation${path}`, {})
    expect(evaluated.status).toBe(200)
    expect(evaluated.headers).not.toHaveProperty('x-svc-release-id')
  })
})

describe('the hooks of a release', () => {
  it('make the body that is forwarded and recorded [inference.rule-2]', async () => {
    await ask('hooked', { model: 'm', hook: 'change' })
    const prepared = { model: 'm', hook: 'changed', prepared: true }
    expect(JSON.parse(here.upstream.received.at(-1)?.body.toString() ?? '')).toEqual(prepared)
    expect(await newest('hooked')).toMatchObject({ payload: prepared })
  })

  it('leave the bytes alone when they change nothing [decisions.inference-bytes]', async () => {
    const body = '{ "model":"m",  "temperature":1.0 }'
    await here.post('/v1/chat/completions', body, { 'x-svc-scenario': 'hooked' })
    expect(here.upstream.received.at(-1)?.body.toString()).toBe(body)
  })

  it('may refuse a body before it is forwarded', async () => {
    const asked = here.upstream.received.length
    const answer = await ask('hooked', { hook: 'refuse' })
    expect([answer.status, answer.json]).toMatchObject([400, { error: { code: 'not_prepared' } }])
    expect(here.upstream.received).toHaveLength(asked)
    expect(seen).toEqual([`begin ${NEXT.release_id}`, `prepare chat ${NEXT.release_id}`, 'let go'])
  })

  it('may refuse an answer: then nothing is recorded and the error is returned [inference.rule-3]', async () => {
    const stored = (await recordsOf(here, 'hooked')).length
    here.upstream.answer((_received, response) => sendJson(response, 200, { id: 'x', proof: 'wrong' }))
    const answer = await ask('hooked', {})
    expect([answer.status, answer.json]).toMatchObject([409, { error: { code: 'not_verified' } }])
    expect(answer.headers['x-should-retry']).toBe('false')
    expect(answer.headers['x-svc-agent-record-id']).toBeUndefined()
    expect(await recordsOf(here, 'hooked')).toHaveLength(stored)
  })

  it('let go of what they hold once, whether the call is answered, refused, streamed or fails', async () => {
    await ask('hooked', {})
    await ask('hooked', { stream: true })
    here.upstream.answer((_received, response) => sendJson(response, 500, {}))
    await ask('hooked', {})
    here.upstream.answer((_received, response) => void response.destroy())
    await ask('hooked', {})
    here.upstream.answer((_received, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {}\n\n'))
    await ask('hooked', {}, {}, '/v1/messages/count_tokens')
    expect(seen.filter((line) => line.startsWith('begin'))).toHaveLength(5)
    expect(seen.filter((line) => line === 'let go')).toHaveLength(5)
  })

  it('stay out of evaluations [evaluation.hooks]', async () => {
    const answer = await here.post('/svc/scenarios/hooked/evaluation/v1/chat/completions', { hook: 'change' })
    expect(answer.status).toBe(200)
    expect(here.upstream.received.at(-1)?.body.toString()).toBe('{"hook":"change"}')
    expect(seen).toEqual([])
  })
})
