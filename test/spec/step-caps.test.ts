/** The caps of a step over HTTP: calls of workers are held before they are sent, whatever the worker and the provider do. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { sharedFolder } from '../support/folder.ts'
import { sendJson } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { wordHarness } from '../support/word-harness.ts'
import { sharedWorld, type Answer } from '../support/world.ts'
import { bearer, expectRefusal, textAt } from './support/helpers.ts'
import { memberOf } from './support/trainee.ts'

const here = sharedWorld({ backend: 'sqlite', settings: { ...wordHarness(sharedFolder()), 'inference.runtime': 'provider' } })

const BUDGET = { step: 1, model: 'm', max_tokens_per_step: 0, max_cost_per_step: 0, max_tokens_per_day: 0, max_cost_per_day: 0 }
const CALL = { model: 'm', messages: [{ role: 'user', content: 'hello' }], max_tokens: 50 }
/** No text has more tokens than bytes. */
const QUESTION = Buffer.byteLength(JSON.stringify(CALL))
const MOST = QUESTION + CALL.max_tokens

let count = 0
/** An episode of a new scenario, of a step with these caps, that a worker has. */
async function held(caps: JsonObject) {
  const scenario = `s${(count += 1)}`
  expect((await here.post('/svc/scenarios', { name: scenario })).status).toBe(201)
  const path = `/svc/scenarios/${scenario}/evaluation`
  const offer = { plays: scenario, priority: 'traffic', episode: {}, model: { name: 'm', api: 'openai' }, seconds_max: 60 }
  const playing = here.post(`${path}/episodes`, { ...offer, budget: { ...BUDGET, ...caps } })
  const { json } = await here.post('/svc/fleet/take', { worker: 'w', plays: [scenario], slots: 1 })
  const episode = memberOf(json, 'episode')
  const key = bearer(textAt(episode, 'key'))
  return {
    playing,
    ask: (more: JsonObject = {}): Promise<Answer> => here.post(`${path}/v1/chat/completions`, { ...CALL, ...more }, key),
    beat: async () => (await here.post(`/svc/fleet/episodes/${textAt(episode, 'lease')}/beat`, { worker: 'w' })).json['goes_on'],
    url: `${here.address}${path}/v1/chat/completions`,
    key,
  }
}

const says = (usage: JsonObject | null): void =>
  here.upstream.answer((_, response) =>
    sendJson(response, 200, {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      ...(usage !== null && { usage }),
    }),
  )

it('a call that could pass the cap is not sent, the episode ends, and both are told what to raise', async () => {
  const { playing, ask, beat } = await held({ max_tokens_per_step: MOST - 1 })
  const before = here.upstream.received.length
  const words = `the step has used 0 tokens, its next call may take ${MOST} tokens (${QUESTION} of its question, 50 of its answer), and its cap is ${MOST - 1}: raise evolution.max_tokens_per_step`
  const refused = await ask()
  expectRefusal(refused, 429, 'step_cap')
  expect(JSON.stringify(refused.json)).toContain(words)
  expect((await playing).json).toMatchObject({ result: null, problem: words, cap: words, calls: [] })
  expect(await beat()).toBe(false)
  expect(here.upstream.received.length).toBe(before)
})

it('calls at once wait for each other, and what they give back is used', async () => {
  const { ask } = await held({ max_tokens_per_step: 3 * MOST })
  says({ prompt_tokens: 10, completion_tokens: 5 })
  const atOnce = await Promise.all(Array.from({ length: 12 }, () => ask()))
  expect(atOnce.map(({ status }) => status)).toEqual(atOnce.map(() => 200))
})

it.each<[title: string, usage: JsonObject | null, calls: number]>([
  ['says nothing', null, 2],
  ['says that it took nothing', { prompt_tokens: 0, completion_tokens: 0 }, 2],
  ['says more than it could', { prompt_tokens: 5000, completion_tokens: 5000 }, 1],
  ['says less', { prompt_tokens: 1, completion_tokens: 1 }, 5],
])('a provider that %s is held to what was set aside, or believed where it says something', async (_title, usage, calls) => {
  // Of an answer that says nothing counts the most that it can have been.
  const { ask } = await held({ max_tokens_per_step: 2 * MOST })
  says(usage)
  let answered = 0
  while (answered < 5 && (await ask()).status === 200) answered += 1
  expect(answered).toBe(calls)
})

it('an answer that its call does not bound counts as one of 32,768 tokens', async () => {
  const { ask } = await held({ max_tokens_per_step: 32_768 })
  const refused = await ask({ max_tokens: null })
  expectRefusal(refused, 429, 'step_cap')
  expect(JSON.stringify(refused.json)).toContain('32768 of its answer, which it does not bound')
})

it('a call that its worker left counts as the most that it may have taken', async () => {
  const { ask, url, key } = await held({ max_tokens_per_step: 2 * MOST - 1 })
  const release = here.upstream.hold()
  const leaving = new AbortController()
  const before = here.upstream.received.length
  const left = fetch(url, {
    method: 'POST',
    headers: { ...key, 'content-type': 'application/json' },
    body: JSON.stringify(CALL),
    signal: leaving.signal,
  }).catch(() => null)
  await until(() => here.upstream.received.length > before)
  leaving.abort()
  await left
  expectRefusal(await ask(), 429, 'step_cap')
  release()
})

it('a call is on the disk before it is sent, and so is what it took', async () => {
  const { ask } = await held({ max_tokens_per_step: 10 * MOST })
  says({ prompt_tokens: 7, completion_tokens: 3 })
  await ask()
  const folders = join(here.directory, 'records', 'scenarios')
  const linesOf = (): readonly unknown[][] =>
    readdirSync(folders, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.includes('spending') && path.endsWith('.jsonl'))
      .flatMap((path) => readFileSync(join(folders, path), 'utf8').split('\n'))
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  await until(() => linesOf().some(([, , kind, , input]) => kind === 'episode' && input === 7))
  expect(linesOf().filter(([, , kind]) => kind === 'hold').length).toBeGreaterThan(0)
})
