/** What holds for every engine over HTTP, against servers that keep to what the engines document. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Engine, JsonObject } from '../../../src/contract/index.ts'
import { until } from '../../support/wait.ts'
import { startWire } from '../../support/wire.ts'
import { adapterFolder } from './adapter-folder.ts'
import { scriptedDecoder } from './decoder.ts'
import { connect, kinds, NEVER, openEngine, openTrained } from './kinds.ts'
import { llamaDecoder } from './llama-decoder.ts'
import { spawnEngine } from './process.ts'
import type { Fault } from './state.ts'

const BODY: JsonObject = { model: 'mine', messages: [{ role: 'user', content: 'hello' }], max_tokens: 12, temperature: 0 }

const chat = (engine: Engine, adapter: string | null, body: JsonObject = BODY) => engine.chat({ body, adapter, signal: NEVER })

async function said(engine: Engine, adapter: string | null): Promise<readonly number[]> {
  const answer = await chat(engine, adapter)
  if (answer.kind !== 'answer') throw new Error(`no answer: ${answer.kind}`)
  return answer.capture.tokens
}

/** What the model itself says to the same messages. */
async function expected(directory: string | null) {
  const decoder = scriptedDecoder()
  const prompt = await decoder.encodeChat([{ role: 'user', content: 'hello' }], true)
  return { prompt, ...(await decoder.generate(prompt, directory, { maxTokens: 12, temperature: 0 })) }
}

describe.each(kinds)('the engine %s', (kind) => {
  it('says what it is', async () => {
    const { engine } = await openEngine(kind, {}, { vocabulary: 259, capacity: 3 })
    expect(await engine.model(NEVER)).toMatchObject({ name: 'tiny', vocabulary: 259, contextTokens: 4096, digest: null })
    expect(engine.capacity).toBe(3)
    await engine.health(NEVER)
  })

  it('answers a chat with the ids and log-probabilities that were sampled, on the base and on an adapter', async () => {
    const { engine, directory } = await openTrained(kind, 7)
    const [base, trained] = [await expected(null), await expected(directory)]
    expect(base.tokens).not.toEqual(trained.tokens)
    for (const [adapter, { prompt, tokens, logProbs, text }] of [
      [null, base],
      ['svc.a.1', trained],
    ] as const) {
      const answer = await chat(engine, adapter)
      expect(answer).toMatchObject({
        kind: 'answer',
        answer: { model: 'mine', choices: [{ message: { content: text }, logprobs: null }] },
        capture: { prompt, tokens, logProbs, spans: [{ start: 0, end: tokens.length, adapter }] },
      })
    }
  })

  it('gives on nothing that only this service asked for, and log-probabilities only on request', async () => {
    const { engine } = await openEngine(kind)
    const quiet = JSON.stringify(await chat(engine, null).then((answer) => (answer.kind === 'answer' ? answer.answer : null)))
    expect(quiet).not.toMatch(/token_ids|meta_info|"content":\[/)
    const asked = await chat(engine, null, { ...BODY, logprobs: true })
    const { tokens } = await expected(null)
    expect(asked).toMatchObject({ answer: { choices: [{ logprobs: { content: tokens.map(() => expect.anything()) } }] } })
  })

  it('never lets a client choose adapters, streams or several choices', async () => {
    const { engine, server } = await openTrained(kind, 7)
    const model = kind === 'vllm' ? 'svc.a.1' : 'tiny:svc.a.1'
    const answer = await chat(engine, null, { ...BODY, model, lora_path: 'svc.a.1', stream: true, stream_options: {}, n: 3 })
    expect(answer).toMatchObject({ kind: 'answer', capture: { tokens: (await expected(null)).tokens } })
    expect(server.calls.at(-1)?.body).toMatchObject({ stream: false, n: 1, model: 'tiny' })
  })

  it('relays what the engine has against a request', async () => {
    const { engine } = await openEngine(kind)
    expect(await chat(engine, null, { ...BODY, messages: [] })).toMatchObject({ kind: 'refused', status: 400 })
  })

  it('generates by ids, with the wishes it was given', async () => {
    const { engine, directory } = await openTrained(kind, 9)
    const sampling = { maxTokens: 9, temperature: 0.7, topK: 5, seed: 11 }
    const prompt = [1, 107, 104]
    const decoded = await scriptedDecoder().generate(prompt, directory, sampling)
    const spans = [{ start: 0, end: decoded.tokens.length, adapter: 'svc.a.1' }]
    expect(await engine.generate({ prompt, adapter: 'svc.a.1', sampling, signal: NEVER })).toEqual({ prompt, ...decoded, spans })
  })

  it('scores every token but the first', async () => {
    const { engine, directory } = await openTrained(kind, 9)
    const tokens = [1, 107, 104, 111, 111]
    expect(await engine.score(tokens, 'svc.a.1', NEVER)).toEqual(await scriptedDecoder().score(tokens, directory))
    expect(await engine.score(tokens, null, NEVER)).toEqual(await scriptedDecoder().score(tokens, null))
  })

  it('loads, lists and unloads adapters, and takes a repeated load for one', async () => {
    const { engine, server, directory } = await openTrained(kind, 1)
    await engine.load({ name: 'svc.a.1', directory }, NEVER)
    await engine.load({ name: 'svc.a.2', directory }, NEVER)
    expect(await engine.adapters(NEVER)).toEqual(['svc.a.1', 'svc.a.2'])
    await engine.unload('svc.a.1', NEVER)
    await engine.unload('svc.a.1', NEVER)
    await engine.unload('svc.never.1', NEVER)
    expect(await engine.adapters(NEVER)).toEqual(['svc.a.2'])
    expect([...server.adapters.keys()]).toEqual(['svc.a.2'])
  })

  it('refuses a folder that is no adapter, without naming it', async () => {
    const { engine } = await openEngine(kind)
    const loaded = engine.load({ name: 'svc.a.1', directory: '/nowhere/at/all' }, NEVER)
    await expect(loaded).rejects.toMatchObject({ kind: 'invalid', code: 'bad_adapter', message: expect.not.stringContaining('nowhere') })
  })

  it('fails with engine_full when the engine has no room for another adapter', async () => {
    const { engine, directory } = await openTrained(kind, 1, { capacity: 1 })
    await expect(engine.load({ name: 'svc.a.2', directory }, NEVER)).rejects.toMatchObject({ kind: 'unavailable', code: 'engine_full' })
  })

  it('says how to start an engine that takes no adapters', async () => {
    const { engine } = await openEngine(kind, { faults: ['loraOff'] })
    const loaded = engine.load({ name: 'svc.a.1', directory: await adapterFolder(1) }, NEVER)
    await expect(loaded).rejects.toMatchObject({ code: 'engine_without_lora', message: expect.stringContaining('--enable-lora') })
  })

  it('distinguishes an adapter that the engine lost from a request it refuses', async () => {
    const { engine, server } = await openTrained(kind, 1)
    server.restart()
    const isThere = (): Promise<boolean> => engine.health(NEVER).then(() => true)
    await until(() => isThere().catch(() => false))
    const lost = { kind: 'unavailable', code: 'adapter_lost' }
    const sampling = { maxTokens: 1, temperature: 0 }
    await expect(chat(engine, 'svc.a.1')).rejects.toMatchObject(lost)
    await expect(engine.generate({ prompt: [1], adapter: 'svc.a.1', sampling, signal: NEVER })).rejects.toMatchObject(lost)
    await expect(engine.score([1, 2], 'svc.a.1', NEVER)).rejects.toMatchObject(lost)
    expect(await engine.adapters(NEVER)).toEqual([])
  })

  it('breaks off what runs when it is paused, and goes on when resumed, however often it is asked', async () => {
    const { engine, server } = await openEngine(kind)
    server.hold('generations')
    const running = chat(engine, null)
    const generating = engine.generate({ prompt: [1], adapter: null, sampling: { maxTokens: 3, temperature: 0 }, signal: NEVER })
    await until(() => server.waiting === 2)
    await engine.pause(NEVER)
    await engine.pause(NEVER)
    expect(await running).toEqual({ kind: 'aborted' })
    expect(await generating).toMatchObject({ finish: 'aborted', tokens: [], spans: [] })
    const later = chat(engine, null)
    await until(() => server.waiting === 1)
    server.letGoOn()
    await engine.resume(NEVER)
    await engine.resume(NEVER)
    expect(await later).toMatchObject({ kind: 'answer' })
  })

  it('answers what came while an adapter was loaded by an engine that then answers no request', async () => {
    const { engine, server } = await openEngine(kind, { faults: ['loadBlocks'] })
    server.hold('loads')
    const loaded = engine.load({ name: 'svc.a.1', directory: await adapterFolder(1) }, NEVER)
    await until(() => server.calls.some(({ path }) => path.endsWith('/load_lora_adapter')))
    const answer = chat(engine, null)
    await until(() => server.waiting === 1)
    server.letGoOn()
    await loaded
    expect(await answer).toMatchObject({ kind: 'answer' })
  })

  it.each<Fault>(['dropsToken', 'nanLogProb', 'nullLogProb', 'noLogProbs', 'wrongPromptIds'])(
    'is not believed when it lies: %s',
    async (fault) => {
      const { engine } = await openEngine(kind, { faults: [fault] })
      const refusal = { kind: 'upstream', code: fault === 'nanLogProb' ? 'engine_not_json' : 'engine_answer_broken' }
      await expect(chat(engine, null)).rejects.toMatchObject(refusal)
      if (kind === 'sglang' && fault === 'wrongPromptIds') return
      const sampling = { maxTokens: 4, temperature: 0 }
      await expect(engine.generate({ prompt: [1, 100], adapter: null, sampling, signal: NEVER })).rejects.toMatchObject(refusal)
    },
  )

  it('answers from a reloaded adapter even where the engine mixes up names, since no name is used twice', async () => {
    const { engine } = await openEngine(kind, { faults: ['staleNames'] })
    const [first, second] = [await adapterFolder(3), await adapterFolder(4)]
    const [old, fresh] = [(await expected(first)).tokens, (await expected(second)).tokens]
    await engine.load({ name: 'svc.a.1', directory: first }, NEVER)
    expect(await said(engine, 'svc.a.1')).toEqual(old)
    await engine.load({ name: 'svc.a.2', directory: second }, NEVER)
    expect(await said(engine, 'svc.a.2')).toEqual(fresh)
    // The fault is there: a name used again gets the first one's weights.
    await engine.unload('svc.a.1', NEVER)
    await engine.load({ name: 'svc.a.1', directory: second }, NEVER)
    expect(await said(engine, 'svc.a.1')).toEqual(old)
  })

  it('is given up at once when no caller waits for it, and in time when it hangs', async () => {
    const { engine, server } = await openEngine(kind, {}, { timeout_s: 0.05 })
    const patient = connect(kind, server.url, { timeout_s: 600 })
    server.faults.add('hangs')
    await expect(chat(engine, null)).rejects.toMatchObject({ kind: 'upstream', code: 'engine_timeout' })
    const controller = new AbortController()
    const asked = patient.health(controller.signal)
    const seen = server.calls.length
    await until(() => server.calls.length > seen)
    controller.abort()
    await expect(asked).rejects.toMatchObject({ kind: 'upstream', code: 'engine_given_up' })
    await expect(patient.health(controller.signal)).rejects.toMatchObject({ code: 'engine_given_up' })
  })

  it('is given up at once while its connection is not even made', async () => {
    // The other side accepts the connection and never answers the handshake on it.
    const wire = await startWire()
    wire.answer(() => undefined)
    onTestFinished(() => wire.close())
    const engine = connect(kind, wire.url.replace('http:', 'https:'), { timeout_s: 600 })
    const controller = new AbortController()
    const asked = engine.health(controller.signal)
    await until(() => wire.open === 1)
    controller.abort()
    await expect(asked).rejects.toMatchObject({ code: 'engine_given_up' })
  })

  it('is unreachable when it dies in the middle of a load, and holds nothing afterwards that was not asked for', async () => {
    const { engine, server } = await openEngine(kind, { faults: ['diesInLoad'] })
    const folder = { name: 'svc.a.1', directory: await adapterFolder(1) }
    await expect(engine.load(folder, NEVER)).rejects.toMatchObject({ kind: 'upstream', code: 'engine_unreachable' })
    server.faults.clear()
    // The load may have happened all the same: asked again, it is there.
    await engine.load(folder, NEVER)
    expect(await engine.adapters(NEVER)).toEqual(['svc.a.1'])
  })

  it('is unreachable while its process is killed, and empty when it is back', async () => {
    const first = await spawnEngine(kind)
    onTestFinished(() => first.kill())
    const engine = connect(kind, first.url)
    const folder = { name: 'svc.a.1', directory: await adapterFolder(1) }
    await engine.load(folder, NEVER)
    await first.kill()
    await expect(chat(engine, 'svc.a.1')).rejects.toMatchObject({ kind: 'upstream', code: 'engine_unreachable', cause: expect.anything() })
    await expect(engine.load(folder, NEVER)).rejects.toMatchObject({ kind: 'upstream' })
    const second = await spawnEngine(kind, '--port', String(first.port))
    onTestFinished(() => second.kill())
    await expect(chat(engine, 'svc.a.1')).rejects.toMatchObject({ code: 'adapter_lost' })
    await engine.load(folder, NEVER)
    expect(await said(engine, 'svc.a.1')).toEqual((await expected(folder.directory)).tokens)
  })

  it('refuses to be the engine of another model than its settings name', async () => {
    const { engine } = await openEngine(kind, {}, { model: 'another' })
    await expect(engine.model(NEVER)).rejects.toMatchObject({ kind: 'upstream', code: 'engine_other_model' })
  })

  it('shows neither key nor password in its status', async () => {
    const { engine } = await openEngine(kind, {}, { api_key: 'sk-secret' })
    await engine.model(NEVER)
    expect(engine.status()).toMatchObject({ model: 'tiny', logprobs_mode: expect.any(String) })
    expect(JSON.stringify(engine.status())).not.toContain('sk-secret')
  })
})

it('any engine that encodes chats can give a server its tokens', async () => {
  const { engine: model } = await openEngine('vllm')
  const decoder = await llamaDecoder(model)
  const plain = scriptedDecoder()
  const messages = [
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: 'hi' },
  ]
  expect(await decoder.encodeChat(messages, false)).toEqual(await plain.encodeChat(messages, false))
  const { engine } = await openEngine('sglang', { decoder })
  const directory = await adapterFolder(5)
  await engine.load({ name: 'svc.a.1', directory }, NEVER)
  expect(await said(engine, 'svc.a.1')).toEqual((await expected(directory)).tokens)
  expect(await engine.score([1, 107, 104], 'svc.a.1', NEVER)).toEqual(await plain.score([1, 107, 104], directory))
})
