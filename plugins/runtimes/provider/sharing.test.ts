import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { answerPlainly, sendJson, startUpstream } from '../../../test/support/upstream.ts'
import { until } from '../../../test/support/wait.ts'
import type { RuntimeCall } from '../../../src/contract/index.ts'
import { SeveralUpstreams } from './several.ts'

/** As in another thread: a channel does not tell its own side. */
async function open(groups: readonly string[]) {
  const upstream = await startUpstream()
  const config = (group: string) => ({
    group,
    upstream_retries: 0,
    breaker: { failures: 2, rest_s: 600 },
    upstreams: { one: { url: upstream.url, formats: ['chat'] }, other: { url: `${upstream.url}/other`, formats: ['chat'], priority: 1 } },
  })
  const threads = groups.map((group) => new SeveralUpstreams(config(group)))
  onTestFinished(async () => {
    await Promise.all(threads.map((thread) => thread.close()))
    await upstream.close()
  })
  const stateOf = (index: number) => threads[index]?.status()[0] ?? {}
  const ask = async (index: number): Promise<void> => {
    await threads[index]?.infer(CALL).catch(() => undefined)
  }
  return { upstream, stateOf, ask, threads }
}

const CALL: RuntimeCall = {
  dialect: 'chat',
  path: '/v1/chat/completions',
  headers: {},
  body: Buffer.from('{}'),
  model: { url: '', model: null, api: 'openai', apiKey: null, upstreams: ['one', 'other'] },
  purpose: 'traffic',
  release: { release_id: 'r1', parent_release_id: null, content_id: 'c1' },
  signal: new AbortController().signal,
}

it('an upstream that rests in one thread rests in those of its service, and in no other', async () => {
  const group = randomUUID()
  const { upstream, stateOf, ask } = await open([group, group, randomUUID()])
  upstream.answer((_received, response) => sendJson(response, 500, {}))
  await ask(0)
  await ask(0)
  await until(() => stateOf(1)['breaker'] === 'open')
  expect(stateOf(1)['rests_until']).toBe(stateOf(0)['rests_until'])
  await ask(1)
  expect(upstream.received.map(({ url }) => url.startsWith('/other'))).toEqual([false, false, true])
  expect(stateOf(2)).toMatchObject({ breaker: 'closed', calls: 0 })
})

it('a thread that ends fails the calls that wait in it', async () => {
  const group = randomUUID()
  const { upstream, stateOf, threads } = await open([group])
  upstream.answer(() => undefined)
  const calls = [threads[0], threads[0]].map((thread) => expect(thread?.infer(CALL)).rejects.toMatchObject({ kind: 'upstream' }))
  await until(() => upstream.received.length === 2)
  await threads[0]?.close()
  await Promise.all(calls)
  expect(stateOf(0)).toMatchObject({ breaker: 'open' })
})

it('the status of each thread counts the calls of all', async () => {
  const group = randomUUID()
  const { upstream, stateOf, ask } = await open([group, group])
  upstream.answer((_received, response) => sendJson(response, 500, {}))
  await ask(0)
  upstream.answer(answerPlainly)
  await ask(1)
  for (const index of [0, 1]) await until(() => stateOf(index)['calls'] === 2)
  for (const index of [0, 1]) await until(() => stateOf(index)['failures'] === 1)
  expect(stateOf(1)).toMatchObject({ last_failure: { reason: 'status 500' } })
})
