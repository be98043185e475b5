/** Chats with the engine in this process: the model's own template, the provider's words, and the ids that were sampled. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openBase } from '../../plugins/runtimes/llama/base.ts'
import { openLlamaEngine } from '../../plugins/runtimes/llama/engine.ts'
import { readAfter } from '../../plugins/runtimes/llama/evaluate.ts'
import { Contexts } from '../../plugins/runtimes/llama/contexts.ts'
import type { LlamaSettings } from '../../plugins/runtimes/llama/settings.ts'
import { Slots } from '../../src/kit/index.ts'
import type { ChatAnswer, Engine, JsonObject } from '../../src/contract/index.ts'
import { sharedFolder } from '../support/folder.ts'
import { CONTEXT_TOKENS, randomAdapter, randomModel, VOCABULARY, withLlama } from './support/llama.ts'

const folder = sharedFolder()
const never = new AbortController().signal
const ask = (more: JsonObject = {}): JsonObject => ({ messages: [{ role: 'user', content: 'hé llo' }], max_tokens: 12, seed: 4, ...more })
const ids = (text: string): readonly number[] => [...Buffer.from(text)].map((byte) => byte + 3)
const [BOS, EOS] = [1, 2]

let settings: LlamaSettings
let engine: Engine

beforeAll(async () => {
  withLlama()
  settings = { model: await randomModel(folder), capacity: 4, parallel: 2, contextTokens: null, threads: 1, gpu: 'off' }
  engine = await openLlamaEngine(settings, () => 1000.5)
  await engine.load({ name: 'a', directory: await randomAdapter(join(folder, 'a'), { seed: 11 }) }, never)
})
afterAll(() => engine.close())

const chat = (body: JsonObject, adapter: string | null = null): Promise<ChatAnswer> => engine.chat({ body, adapter, signal: never })

describe('a chat', () => {
  it('is one completion in the provider’s shape, with what was sampled beside it', async () => {
    const answer = await chat(ask({ model: 'mine' }), 'a')
    if (answer.kind !== 'answer') throw new Error(`it was ${answer.kind}`)
    const { prompt, tokens, logProbs, spans } = answer.capture
    expect(prompt).toEqual([BOS, ...ids('user: hé llo'), EOS, ...ids('\nassistant: ')])
    expect(logProbs).toHaveLength(tokens.length)
    expect(spans).toEqual([{ start: 0, end: tokens.length, adapter: 'a' }])
    expect(answer.answer).toMatchObject({
      object: 'chat.completion',
      created: 1000,
      model: 'mine',
      choices: [{ index: 0, message: { role: 'assistant', content: expect.any(String) }, finish_reason: 'length' }],
      usage: { prompt_tokens: prompt.length, completion_tokens: 12, total_tokens: prompt.length + 12 },
    })
    expect((await chat(ask(), 'a')).kind).toBe('answer')
  })

  it('says the same for the same seed, and the same as asked by ids', async () => {
    const [first, second] = [await chat(ask()), await chat(ask())]
    if (first.kind !== 'answer' || second.kind !== 'answer') throw new Error('it was refused')
    expect(second.capture).toEqual(first.capture)
    const sampling = { maxTokens: 12, temperature: 1, seed: 4 }
    const { tokens } = await engine.generate({ prompt: first.capture.prompt, adapter: null, sampling, signal: never })
    expect(first.capture.tokens).toEqual(tokens)
  })

  it('may be as long as the context when nothing limits it', async () => {
    const answer = await chat({ messages: [{ role: 'user', content: 'x'.repeat(460) }], temperature: 0 }, 'a')
    if (answer.kind !== 'answer') throw new Error(`it was ${answer.kind}`)
    expect(answer.capture.prompt.length + answer.capture.tokens.length).toBe(CONTEXT_TOKENS)
    expect(answer.answer['choices']).toMatchObject([{ finish_reason: 'length' }])
  })

  it.each([
    ['an image', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] }] }, 'messages.[0].content'],
    ['a sound', { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] }, 'messages.[0].content'],
    ['several answers', { n: 2 }, 'n'],
    ['no messages', { messages: [] }, 'messages'],
    ['a message without a role', { messages: [{ content: 'hello' }] }, 'messages.[0].role'],
    ['a schema', { response_format: { type: 'json_object' } }, 'response_format'],
    ['a forced call', { tool_choice: 'required' }, 'tool_choice'],
    ['a temperature out of range', { temperature: 3 }, 'temperature'],
    ['no tokens at all', { max_tokens: 0 }, 'max_tokens'],
    ['an empty stop text', { stop: [''] }, 'stop'],
  ])('with %s is refused in the provider’s shape', async (_, more, param) => {
    expect(await chat(ask(more))).toMatchObject({
      kind: 'refused',
      status: 400,
      answer: { error: { type: 'invalid_request_error', param } },
    })
  })

  it.each([
    ['a little', 600],
    ['a hundred thousand times', 50_000_000],
  ])('%s longer than the context is refused in the provider’s words', async (_, length) => {
    expect(await chat(ask({ messages: [{ role: 'user', content: 'x'.repeat(length) }] }))).toMatchObject({
      kind: 'refused',
      status: 400,
      answer: { error: { code: 'context_length_exceeded', message: expect.stringContaining('maximum context length is 512 tokens') } },
    })
  })

  it('with tools is refused where the model’s template has no place for them, and answered where it has', async () => {
    const tools = [{ type: 'function', function: { name: 'look' } }]
    expect((await chat(ask({ tools }))).kind).toBe('answer')
    const template = '{% for message in messages %}{{ message.content }}{% endfor %}'
    const deaf = await openLlamaEngine({ ...settings, model: await randomModel(join(folder, 'deaf'), { seed: 7, template }) })
    try {
      const answers = [{ tools }, { tools, tool_choice: 'none' }, {}].map((more) =>
        deaf.chat({ body: ask(more), adapter: null, signal: never }),
      )
      expect(await Promise.all(answers)).toMatchObject([
        { kind: 'refused', status: 400, answer: { error: { param: 'tools', code: 'tools_unsupported' } } },
        { kind: 'answer' },
        { kind: 'answer' },
      ])
      expect(await deaf.encode?.(ask({ tools }), null, never)).toBeNull()
    } finally {
      await deaf.close()
    }
  })

  it('with an adapter that is gone is no answer at all', async () => {
    await expect(chat(ask(), 'gone')).rejects.toMatchObject({ code: 'adapter_lost' })
  })

  it('given up while it waits holds nothing', async () => {
    await engine.pause(never)
    const leaving = new AbortController()
    const waiting = engine.chat({ body: ask(), adapter: null, signal: leaving.signal })
    leaving.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    await engine.resume(never)
    expect((await chat(ask())).kind).toBe('answer')
  })
})

describe('encoding', () => {
  it('gives what a chat begins with, and what follows when the assistant’s turn is known', async () => {
    const encoded = await engine.encode?.(ask(), { role: 'assistant', content: 'yes' }, never)
    const answer = await chat(ask())
    if (answer.kind !== 'answer') throw new Error(`it was ${answer.kind}`)
    expect(encoded).toEqual({ prompt: answer.capture.prompt, answer: [...ids('yes'), EOS] })
    expect(await engine.encode?.(ask(), null, never)).toEqual({ prompt: answer.capture.prompt, answer: [] })
  })

  it('writes tools, calls and results by the template, with arguments as objects', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }
    const body = ask({
      tools: [{ type: 'function', function: { name: 'look' } }],
      messages: [
        { role: 'developer', content: 'be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look ' },
            { type: 'text', text: 'there' },
          ],
        },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'a tree' },
      ],
    })
    const { prompt = [] } = (await engine.encode?.(body, null, never)) ?? {}
    const text = Buffer.from(prompt.filter((id) => id > EOS).map((id) => id - 3)).toString()
    expect(text).toMatch(
      /^tools: \[.*"look".*\]\nsystem: be brief\nuser: look there\nassistant: \[.*"arguments": \{"at": 1\}.*\]\ntool: a tree\nassistant: $/,
    )
  })

  it('of what the model cannot read is nothing', async () => {
    expect(await engine.encode?.(ask({ messages: [{ role: 'user', content: [{ type: 'file' }] }] }), null, never)).toBeNull()
  })
})

describe('what two calls have in common', () => {
  it.each([
    ['kept by one that is drawn', false],
    ['evaluated again by one that must come out the same', true],
  ])('is %s', async (_, isExact) => {
    const base = await openBase(settings)
    const contexts = new Contexts(base, { count: 1, turns: new Slots(1), isWanted: () => true })
    const first = ids('one two')
    await contexts.during(never, async (hold) => {
      const held = await hold(null, first, isExact)
      await readAfter({ held, transcript: first, isExact, signal: never }, (place) => place.outlook(1, 1))
    })
    await contexts.during(never, async (hold) => {
      const { sequence } = await hold(null, [...first, ...ids(' three')], isExact)
      expect(sequence.tokens).toEqual(isExact ? [] : first)
    })
    await contexts.close()
    await base.dispose()
  })
})

describe('what may come next', () => {
  it('is the same for the likeliest, whether they or all are asked for', async () => {
    const base = await openBase(settings)
    const contexts = new Contexts(base, { count: 1, turns: new Slots(1), isWanted: () => true })
    await contexts.during(never, async (hold) => {
      const transcript = ids('one two')
      const request = { held: await hold(null, transcript, true), transcript, isExact: true, signal: never }
      const few = await readAfter(request, (place) => place.outlook(0.8, 5))
      const all = await readAfter(request, (place) => place.outlook(0.8, VOCABULARY))
      expect([few.isWhole, all.isWhole]).toEqual([false, true])
      expect(few.tokens).toEqual(all.tokens.slice(0, 5))
      for (const [at, one] of few.logProbs.entries()) expect(one).toBeCloseTo(all.logProbs[at] ?? 0, 4)
      expect(all.logProbs.reduce((sum, one) => sum + Math.exp(one), 0)).toBeCloseTo(1, 4)
    })
    await contexts.close()
    await base.dispose()
  })
})
