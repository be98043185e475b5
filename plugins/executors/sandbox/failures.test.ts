/** When an episode ended because the model gave no answer, over a relay to a provider that fails. */
import { createServer, request, type RequestListener, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { listenOnLoopback } from '../../../test/support/listen.ts'
import { readLimits } from '../common/limits.ts'
import { ModelCalls } from './failures.ts'
import { openRelay } from './relay.ts'

const KEY = 'key'

/** A relay to a provider that answers as the list says, the last one for all further calls. */
async function relayTo(...answers: readonly ((response: ServerResponse) => void)[]) {
  let calls = 0
  const answer: RequestListener = (given, response) => {
    given.resume().on('end', () => answers[Math.min(calls++, answers.length - 1)]?.(response))
  }
  const provider = createServer(answer)
  const url = `http://127.0.0.1:${await listenOnLoopback(provider)}`
  const path = join(temporaryFolder(), 'socket')
  const model = { url, model: 'm', api: 'openai', apiKey: null } as const
  const relay = await openRelay(path, model, KEY, readLimits({}).model)
  onTestFinished(async () => {
    await relay.close()
    provider.closeAllConnections()
    provider.close()
  })
  return { relay, ask: (isLeft = false) => askedOver(path, isLeft) }
}

/** The status; null where the connection broke. */
const askedOver = (socketPath: string, isLeft: boolean): Promise<number | null> =>
  new Promise((resolve) => {
    const options = { socketPath, path: '/v1/chat/completions', method: 'POST', headers: { authorization: `Bearer ${KEY}` } }
    const call = request(options, (answer) => {
      answer.on('error', () => resolve(null))
      if (isLeft) answer.once('data', () => call.destroy())
      answer.on('data', () => undefined).on('end', () => resolve(answer.statusCode ?? null))
      answer.on('close', () => resolve(null))
    })
    call.on('error', () => resolve(null)).end('{"messages":[]}')
  })

const says =
  (status: number, body = '{}') =>
  (response: ServerResponse): void =>
    void response.writeHead(status).end(body)
const breaksOff = (response: ServerResponse): void => void response.writeHead(200).write('data: {', () => response.destroy())
const hangsUp = (response: ServerResponse): void => void response.destroy()
const OK = says(200, '{"choices":[]}')

describe('a model that gives the last call no answer', () => {
  it.each([
    ['with the status of an overload', says(529), 'it answered with status 529'],
    ['with a limit of its rate', says(429), 'it answered with status 429'],
    ['with a key that it does not know', says(401), 'it answered with status 401'],
    ['with an error in its stream', says(200, 'event: error\ndata: {"type":"error"}\n\n'), 'its stream ended in an error'],
    ['with a failed response', says(200, 'data: {"a":1}\n\ndata: {"type":"response.failed"}\n\n'), 'its stream ended in an error'],
    ['with half an answer', breaksOff, 'it broke off, or could not be reached'],
    ['without one', hangsUp, 'it broke off, or could not be reached'],
  ])('%s failed the episode', async (_how, answer, failure) => {
    const { relay, ask } = await relayTo(OK, answer)
    await ask()
    expect(relay.modelFailure(null)).toBeNull()
    await ask()
    await expect.poll(() => relay.modelFailure(null)).toBe(failure)
  })

  it('and then answers the agent that tried again did not fail it', async () => {
    const { relay, ask } = await relayTo(says(500), OK)
    await ask()
    await ask()
    await expect.poll(() => relay.modelFailure(null)).toBeNull()
  })
})

it('the model and its version are those that the last answer named first, whatever its words are', async () => {
  const named = JSON.stringify({
    id: 'x',
    model: 'm-2026',
    system_fingerprint: 'fp_1',
    choices: [{ model: 'other', text: '"model":"third"' }],
  })
  const { relay, ask } = await relayTo(says(200, `data: {"model":"old"}\n\n`), says(200, named), OK)
  for (const name of ['old', 'm-2026 fp_1', 'm-2026 fp_1']) {
    await ask()
    await expect.poll(() => relay.answeredBy()).toBe(name)
  }
})

describe('is the agent’s own doing, and no failure of the model', () => {
  it.each([
    ['a call that the provider refuses', says(400)],
    ['a call that it forbids', says(403)],
    ['a call that is too large', says(413)],
    ['words that look like an error', says(200, JSON.stringify({ text: 'x\nevent: error', input: { type: 'error' } }))],
  ])('%s', async (_how, answer) => {
    const { relay, ask } = await relayTo(answer)
    await ask()
    expect(relay.modelFailure(null)).toBeNull()
  })

  it('a call that it leaves', async () => {
    const { relay, ask } = await relayTo((response) => void response.writeHead(200).write('data: {}\n\n'))
    expect(await ask(true)).toBeNull()
    expect(relay.modelFailure(null)).toBeNull()
  })
})

const waited = (seconds: number, hasWord: boolean): ModelCalls => {
  let now = 0
  const calls = new ModelCalls(() => now)
  const call = calls.begin()
  if (hasWord) call.read(Buffer.from('data: {}'))
  now = seconds * 1000
  return calls
}

describe('an episode whose time is up', () => {
  it('failed by the model where that gave no word for most of it', () => {
    expect(waited(400, false).failure(600)).toBe('it gave no word for 400 seconds')
  })
  it('took too long itself where the model answered, or where it called shortly before', () => {
    expect([waited(400, true).failure(600), waited(200, false).failure(600), waited(400, false).failure(null)]).toEqual([null, null, null])
  })
})
