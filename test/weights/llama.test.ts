/** The engine in this process, with the real library, on a model of random numbers. */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openLlamaEngine } from '../../plugins/runtimes/llama/engine.ts'
import type { LlamaSettings } from '../../plugins/runtimes/llama/settings.ts'
import type { Engine, Generation, Sampling } from '../../src/contract/index.ts'
import { sharedFolder } from '../support/folder.ts'
import { CONTEXT_TOKENS, randomAdapter, randomModel, VOCABULARY, withLlama } from './support/llama.ts'

const folder = sharedFolder()
const never = new AbortController().signal
const PROMPT = [1, ...Buffer.from('user: pick one').map((byte) => byte + 3)]
const GREEDY: Sampling = { maxTokens: 40, temperature: 0 }

let settings: LlamaSettings
let engine: Engine

const open = async (more: Partial<LlamaSettings> = {}): Promise<Engine> => {
  const opened = await openLlamaEngine({ ...settings, ...more })
  onTestFinished(() => opened.close())
  return opened
}

beforeAll(async () => {
  withLlama()
  settings = { model: await randomModel(folder), capacity: 4, parallel: 4, contextTokens: null, threads: 1, gpu: 'off' }
  engine = await openLlamaEngine(settings)
  await engine.load({ name: 'a', directory: await randomAdapter(join(folder, 'a'), { seed: 11 }) }, never)
  await engine.load({ name: 'b', directory: await randomAdapter(join(folder, 'b'), { seed: 12 }) }, never)
})
afterAll(() => engine.close())

interface Said {
  readonly adapter?: string | null
  readonly prompt?: readonly number[]
  readonly signal?: AbortSignal
  readonly on?: Engine
}
const say = (sampling: Sampling, { adapter = null, prompt = PROMPT, signal = never, on = engine }: Said = {}): Promise<Generation> =>
  on.generate({ prompt, adapter, sampling, signal })

/** Of the generated tokens alone. */
const scored = async ({ prompt, tokens }: Generation, adapter: string | null, on = engine): Promise<readonly number[]> =>
  (await on.score([...prompt, ...tokens], adapter, never)).slice(prompt.length - 1)

const near = (actual: readonly number[], wanted: readonly number[]): void => {
  expect(actual).toHaveLength(wanted.length)
  for (const [at, number] of actual.entries()) expect(number).toBeCloseTo(wanted[at] ?? Number.NaN, 3)
}

describe('sampling', () => {
  it('says the same to the last bit for the same seed, whatever was asked before and at the same time', async () => {
    const sampling = { maxTokens: 30, temperature: 1, topP: 0.95, topK: 100, seed: 42 }
    const first = await say(sampling)
    await say({ maxTokens: 5, temperature: 1 }, { prompt: [1, 50, 60] })
    const others = [1, 2, 3].map((seed) => say({ ...sampling, seed }))
    const again = await say(sampling)
    expect(again).toEqual(first)
    for (const other of await Promise.all(others)) expect(other.tokens).not.toEqual(first.tokens)
  })

  it('gives calls without a seed their own words when they are evaluated together', async () => {
    const greedy = { maxTokens: 40, temperature: 0 }
    const prompts = [
      [1, 50, 60],
      [1, 70, 80, 90],
      [1, 100],
      [1, 110, 120],
    ]
    const alone = []
    for (const prompt of prompts) alone.push(await say(greedy, { prompt }))
    const together = await Promise.all(prompts.map((prompt) => say(greedy, { prompt })))
    for (const [at, one] of together.entries()) {
      expect(one.tokens).toEqual(alone[at]?.tokens)
      near(one.logProbs, alone[at]?.logProbs ?? [])
    }
    const drawn = await Promise.all(prompts.map((prompt) => say({ maxTokens: 40, temperature: 1.3 }, { prompt })))
    expect(new Set(drawn.map(({ tokens }) => tokens.join())).size).toBe(prompts.length)
  })

  it('says the same after a long prompt of which another call left a part behind', async () => {
    const long = Array.from({ length: 400 }, (_, at) => 3 + ((at * 7) % 200))
    const sampling = { maxTokens: 10, temperature: 1, seed: 5 }
    const fresh = await say(sampling, { prompt: long, on: await open() })
    const used = await open({ parallel: 1 })
    await say(sampling, { prompt: [...long.slice(0, 300), 77, 78], on: used })
    expect(await say(sampling, { prompt: long, on: used })).toEqual(fresh)
    expect(await say(sampling, { prompt: long, on: used })).toEqual(fresh)
  })

  it('records log-probabilities that scoring the same tokens gives', async () => {
    const said = await say({ maxTokens: 40, temperature: 1, seed: 3 })
    near(said.logProbs, await scored(said, null))
    const likeliest = await say(GREEDY)
    near(likeliest.logProbs, await scored(likeliest, null))
  })

  it('records them after temperature and before filters', async () => {
    const rows = Array.from({ length: VOCABULARY }, (_, token) => engine.score([...PROMPT, token], null, never))
    const logProbs = (await Promise.all(rows)).map((row) => row.at(-1) ?? Number.NaN)
    const temperature = 0.6
    const { tokens, logProbs: recorded } = await say({ maxTokens: 1, temperature, topK: 3, seed: 8 })
    const weight = Math.log(logProbs.reduce((sum, one) => sum + Math.exp(one / temperature), 0))
    near(recorded, [(logProbs[tokens[0] ?? 0] ?? Number.NaN) / temperature - weight])
    const rank = logProbs.filter((one) => one > (logProbs[tokens[0] ?? 0] ?? 0)).length
    expect(rank).toBeLessThan(3)
  })

  it('takes the likeliest at temperature 0', async () => {
    const rows = Array.from({ length: VOCABULARY }, (_, token) => engine.score([...PROMPT, token], 'a', never))
    const logProbs = (await Promise.all(rows)).map((row) => row.at(-1) ?? Number.NaN)
    const { tokens } = await say({ maxTokens: 1, temperature: 0 }, { adapter: 'a' })
    expect(logProbs[tokens[0] ?? 0]).toBe(Math.max(...logProbs))
  })

  it('stops before a stop text and keeps the tokens that made it', async () => {
    const whole = await say(GREEDY)
    const stop = whole.text.slice(5, 7)
    const said = await say({ ...GREEDY, stop: ['never said', stop] })
    expect(said.finish).toBe('stop')
    expect(said.text).toBe(whole.text.slice(0, whole.text.indexOf(stop)))
    expect(said.tokens).toEqual(whole.tokens.slice(0, said.tokens.length))
    expect(said.tokens.length).toBeLessThan(whole.tokens.length)
  })

  it('stops at the token that ends a turn, and counts it', async () => {
    const said = await say({ maxTokens: 400, temperature: 1.5, seed: 1 })
    expect(said.finish).toBe('stop')
    expect(said.tokens.at(-1)).toBe(2)
    expect(said.tokens.indexOf(2)).toBe(said.tokens.length - 1)
  })

  it('ends where the context ends', async () => {
    const said = await say({ maxTokens: 10_000, temperature: 0 }, { prompt: [...PROMPT, ...Array.from({ length: 470 }, () => 40)] })
    expect(said.finish).toBe('length')
    expect(said.prompt.length + said.tokens.length).toBe(CONTEXT_TOKENS)
  })

  it.each([
    ['no token', []],
    ['an id beyond the vocabulary', [1, VOCABULARY]],
    ['a negative id', [-1]],
    ['half an id', [1.5]],
    ['a prompt without room for an answer', Array.from({ length: CONTEXT_TOKENS }, () => 5)],
  ])('refuses %s, and goes on', async (_, prompt) => {
    await expect(say(GREEDY, { prompt })).rejects.toMatchObject({ kind: 'invalid' })
    expect((await say(GREEDY)).tokens).not.toHaveLength(0)
  })
})

describe('adapters', () => {
  it('answer each with its own words at the same time', async () => {
    const alone = [await say(GREEDY), await say(GREEDY, { adapter: 'a' }), await say(GREEDY, { adapter: 'b' })]
    const together = await Promise.all([say(GREEDY), say(GREEDY, { adapter: 'a' }), say(GREEDY, { adapter: 'b' })])
    expect(together).toEqual(alone)
    expect(new Set(alone.map(({ text }) => text)).size).toBe(3)
    expect(alone.map(({ spans }) => spans[0]?.adapter)).toEqual([null, 'a', 'b'])
  })

  it('are refused by name when they are not there', async () => {
    await expect(say(GREEDY, { adapter: 'unknown' })).rejects.toMatchObject({ code: 'adapter_lost' })
    await expect(engine.score(PROMPT, 'unknown', never)).rejects.toMatchObject({ code: 'adapter_lost' })
    await engine.unload('unknown', never)
  })

  const bad = {
    'a foreign one': (directory: string) => randomAdapter(directory, { seed: 1, width: 64 }),
    'half a file': async (directory: string) => {
      const file = join(await randomAdapter(directory, { seed: 1 }), 'adapter.gguf')
      await writeFile(file, (await readFile(file)).subarray(0, 900))
      return directory
    },
    'a text': async (directory: string) => {
      await writeFile(join(await randomAdapter(directory, { seed: 1 }), 'adapter.gguf'), 'GGUF, they said')
      return directory
    },
    'a model': async (directory: string) => {
      await rename(await randomModel(directory), join(directory, 'adapter.gguf'))
      return directory
    },
    'an empty folder': (directory: string) => Promise.resolve(directory),
  }
  it.each(Object.entries(bad))('refuse %s with its reason, keep no name, and leave the engine as it was', async (kind, make) => {
    const before = await say(GREEDY, { adapter: 'a' })
    const directory = await make(join(folder, kind))
    const refusal = await engine.load({ name: 'bad', directory }, never).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ kind: 'invalid', code: 'bad_adapter' })
    expect(String(refusal)).not.toContain(folder)
    expect(await engine.adapters(never)).toEqual(['a', 'b'])
    expect(await say(GREEDY, { adapter: 'a' })).toEqual(before)
  })

  it('are no more than the engine has room for', async () => {
    const small = await open({ capacity: 1 })
    await small.load({ name: 'a', directory: join(folder, 'a') }, never)
    await expect(small.load({ name: 'b', directory: join(folder, 'b') }, never)).rejects.toMatchObject({ code: 'engine_full' })
    await small.unload('a', never)
    await small.load({ name: 'b', directory: join(folder, 'b') }, never)
    expect(await small.adapters(never)).toEqual(['b'])
  })

  it('are let go of when they are unloaded: what lies in the folder then is read anew', async () => {
    const other = await open()
    const directory = await randomAdapter(join(folder, 'changing'), { seed: 21 })
    await other.load({ name: 'first', directory }, never)
    const first = await say(GREEDY, { adapter: 'first', on: other })
    await other.unload('first', never)
    await randomAdapter(directory, { seed: 22 })
    await other.load({ name: 'second', directory }, never)
    expect((await say(GREEDY, { adapter: 'second', on: other })).tokens).not.toEqual(first.tokens)
  })

  it('stay under a generation that runs on them while they are unloaded', async () => {
    const other = await open()
    await other.load({ name: 'a', directory: join(folder, 'a') }, never)
    const whole = say({ maxTokens: 300, temperature: 0 }, { adapter: 'a', on: other })
    await say({ maxTokens: 3, temperature: 0 }, { on: other })
    await other.unload('a', never)
    expect(await whole).toMatchObject({ finish: 'length', spans: [{ start: 0, end: 300, adapter: 'a' }] })
    await expect(say(GREEDY, { adapter: 'a', on: other })).rejects.toMatchObject({ code: 'adapter_lost' })
    expect(other.status()).toMatchObject({ generating: 0, contexts: 1 })
  })

  it('come and go under load without a failure', async () => {
    const other = await open({ parallel: 2, capacity: 8 })
    const lives = Array.from({ length: 12 }, async (_, turn) => {
      const name = `life-${turn}`
      await other.load({ name, directory: join(folder, turn % 2 === 0 ? 'a' : 'b') }, never).catch(() => null)
      const said = await say({ maxTokens: 10, temperature: 0 }, { adapter: name, on: other }).catch((error: unknown) => error)
      await other.unload(name, never)
      return said
    })
    const outcomes = await Promise.all(lives)
    const wanted = [
      await say({ maxTokens: 10, temperature: 0 }, { adapter: 'a' }),
      await say({ maxTokens: 10, temperature: 0 }, { adapter: 'b' }),
    ]
    for (const [turn, outcome] of outcomes.entries()) {
      const isAnswer = typeof outcome === 'object' && outcome !== null && 'tokens' in outcome
      if (isAnswer) expect(outcome.tokens).toEqual(wanted[turn % 2]?.tokens)
      else expect(outcome).toMatchObject({ code: 'adapter_lost' })
    }
    expect(outcomes.some((outcome) => typeof outcome === 'object' && outcome !== null && 'tokens' in outcome)).toBe(true)
    expect(await other.adapters(never)).toEqual([])
  })
})

describe('a move', () => {
  it('in the middle of a generation changes the adapter at exactly one token', async () => {
    const whole = say({ maxTokens: 200, temperature: 0 }, { adapter: 'a' })
    const bystander = say({ maxTokens: 200, temperature: 0 }, { adapter: null })
    await say({ maxTokens: 10, temperature: 0 }, { adapter: 'b' })
    engine.move?.('a', 'b')
    const said = await whole
    const [first, second] = said.spans
    expect(said.spans).toMatchObject([
      { start: 0, adapter: 'a' },
      { end: 200, adapter: 'b' },
    ])
    const at = first?.end ?? 0
    expect(second?.start).toBe(at)
    expect(at).toBeGreaterThan(0)
    near(said.logProbs.slice(0, at), (await scored(said, 'a')).slice(0, at))
    near(said.logProbs.slice(at), (await scored(said, 'b')).slice(at))
    const before = await say({ maxTokens: at, temperature: 0 }, { adapter: 'a' })
    const after = await say({ maxTokens: 200 - at, temperature: 0 }, { adapter: 'b', prompt: [...PROMPT, ...before.tokens] })
    expect(said.tokens).toEqual([...before.tokens, ...after.tokens])
    const { spans, tokens } = await bystander
    expect(spans).toEqual([{ start: 0, end: tokens.length, adapter: null }])
  })

  it('reaches a generation that still waits for its place', async () => {
    const narrow = await open({ parallel: 1 })
    await narrow.load({ name: 'a', directory: join(folder, 'a') }, never)
    await narrow.load({ name: 'b', directory: join(folder, 'b') }, never)
    const [running, waiting] = [say(GREEDY, { on: narrow }), say(GREEDY, { adapter: 'a', on: narrow })]
    narrow.move?.('a', 'b')
    await narrow.unload('a', never)
    expect((await waiting).spans).toEqual([{ start: 0, end: 40, adapter: 'b' }])
    expect((await running).spans).toEqual([{ start: 0, end: 40, adapter: null }])
  })

  it('to the base and back leaves spans that add up', async () => {
    const whole = say({ maxTokens: 250, temperature: 0 }, { adapter: 'a' })
    for (const [from, to] of [['a', null] as const, [null, 'b'] as const, ['b', 'a'] as const]) {
      await say({ maxTokens: 8, temperature: 0 }, { prompt: [1, 9] })
      engine.move?.(from, to)
    }
    const { spans, tokens } = await whole
    expect(spans.map(({ adapter }) => adapter)).toEqual(['a', null, 'b', 'a'])
    expect(spans.map(({ start }) => start)).toEqual([0, ...spans.slice(0, -1).map(({ end }) => end)])
    expect(spans.at(-1)?.end).toBe(tokens.length)
  })

  it('to an adapter that is not there is refused and moves nothing', async () => {
    const whole = say(GREEDY, { adapter: 'a' })
    expect(() => engine.move?.('a', 'unknown')).toThrow('does not hold')
    expect((await whole).spans).toEqual([{ start: 0, end: 40, adapter: 'a' }])
  })
})

describe('giving up', () => {
  it('lets go of the caller at once and of its place soon after', async () => {
    const narrow = await open({ parallel: 1 })
    await narrow.pause(never)
    const [holding, queueing] = [new AbortController(), new AbortController()]
    const running = say(GREEDY, { on: narrow, signal: holding.signal })
    const waiting = say(GREEDY, { on: narrow, signal: queueing.signal })
    queueing.abort(new Error('the second left'))
    await expect(waiting).rejects.toThrow('the second left')
    holding.abort(new Error('the first left'))
    await expect(running).rejects.toThrow('the first left')
    await narrow.resume(never)
    expect((await say(GREEDY, { on: narrow })).tokens).toHaveLength(40)
    expect(narrow.status()).toMatchObject({ generating: 0, waiting: 0 })
  })

  it('in the middle of a generation changes nothing for the next one', async () => {
    const narrow = await open({ parallel: 1 })
    const wanted = await say(GREEDY, { on: narrow })
    const leaving = new AbortController()
    const running = say({ maxTokens: 450, temperature: 0 }, { on: narrow, signal: leaving.signal })
    await narrow.pause(never)
    leaving.abort()
    await expect(running).rejects.toMatchObject({ name: 'AbortError' })
    await narrow.resume(never)
    expect(await say(GREEDY, { on: narrow })).toEqual(wanted)
  })

  it('before it began asks nothing of the model', async () => {
    await expect(say(GREEDY, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('a pause', () => {
  it('holds generations where they are until it is undone, however often it was asked for', async () => {
    const other = await open()
    const wanted = await say({ maxTokens: 60, temperature: 1, seed: 8 })
    const running = say({ maxTokens: 60, temperature: 1, seed: 8 }, { on: other })
    await say({ maxTokens: 2, temperature: 0 }, { on: other })
    await Promise.all([other.pause(never), other.pause(never)])
    const ended: string[] = []
    const held = [running, say(GREEDY, { on: other })].map((one) => one.then(() => ended.push('generation')))
    await other.load({ name: 'meanwhile', directory: join(folder, 'a') }, never)
    expect([ended, other.status()['paused']]).toEqual([[], true])
    await other.resume(never)
    await Promise.all(held)
    await other.resume(never)
    expect(await running).toEqual(wanted)
  })
})

describe('closing', () => {
  it('while generations run and wait gives each of them up, and takes no more', async () => {
    const other = await openLlamaEngine({ ...settings, parallel: 3 })
    await other.load({ name: 'a', directory: join(folder, 'a') }, never)
    const long = (): Promise<Generation> => say({ maxTokens: 400, temperature: 0 }, { adapter: 'a', on: other })
    const running = [long(), long()]
    const short = say({ maxTokens: 2, temperature: 0 }, { on: other })
    const outcomes = Promise.allSettled([...running, long(), long(), long()])
    await short
    await Promise.all([other.close(), other.close()])
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'engine_closed' } })
    await expect(say(GREEDY, { on: other })).rejects.toMatchObject({ code: 'engine_closed' })
    await expect(other.health(never)).rejects.toMatchObject({ code: 'engine_closed' })
    await expect(other.chat({ body: {}, adapter: null, signal: never })).rejects.toMatchObject({ code: 'engine_closed' })
  })

  it('while it is paused waits for no generation', async () => {
    const other = await openLlamaEngine(settings)
    await other.pause(never)
    const stuck = say(GREEDY, { on: other })
    const refused = expect(stuck).rejects.toMatchObject({ code: 'engine_closed' })
    await other.close()
    await refused
  })
})

describe('the model', () => {
  it('is identified by the digest of its file', async () => {
    const { digest, ...rest } = await engine.model(never)
    const shape = { architecture: 'llama', heads: 4, kvHeads: 4 }
    expect(rest).toEqual({ name: 'random', vocabulary: VOCABULARY, contextTokens: CONTEXT_TOKENS, shape })
    const other = await open({ model: await randomModel(join(folder, 'other'), { seed: 8 }) })
    expect(digest).toMatch(/^[0-9a-f]{64}$/)
    expect((await other.model(never)).digest).not.toBe(digest)
    await engine.health(never)
  })

  it('whose file is another by now says nothing of the one in memory', async () => {
    const file = await randomModel(join(folder, 'replaced'))
    const other = await open({ model: file })
    await rename(await randomModel(join(folder, 'replacing'), { seed: 9 }), file)
    await expect(other.model(never)).rejects.toMatchObject({ kind: 'unavailable', code: 'model_changed' })
  })

  it.each([
    ['is not there', 'nowhere.gguf', 'no_model'],
    ['is no model', 'words.gguf', 'bad_model'],
  ])('whose file %s keeps the engine from opening, in words without its path', async (_, file, code) => {
    await writeFile(join(folder, 'words.gguf'), 'these are words')
    const refusal = await openLlamaEngine({ ...settings, model: join(folder, file) }).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ kind: 'invalid', code })
    expect(String(refusal)).not.toContain(folder)
  })
})
