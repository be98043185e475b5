/** The exchanges of a sample become one trajectory, or a reason why not. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject, Sample } from '../../contract/index.ts'
import { assembleRollout, encodeRollout, type Assembled, type AssembleOptions } from './assemble.ts'

interface Said {
  readonly prompt: readonly number[]
  readonly answer: readonly number[]
  readonly load?: string
}
const training = ({ prompt, answer, load = 'a:1' }: Said): JsonObject => ({
  tokens: [...prompt, ...answer],
  loss_mask: answer.map(() => 1),
  rollout_log_probs: answer.map((token) => -token / 100),
  runtime_load_id: load,
  runtime_load_spans: [{ start: 0, end: answer.length, runtime_load_id: load }],
})
const kept = (block: JsonObject): JsonObject => ({ messages: [], response: { choices: [], training: block } })
const sampleOf = (exchanges: readonly JsonObject[]): Sample => ({
  record_ids: ['x', 'r'],
  exchanges,
  score: 0.5,
  feedback: null,
  group: 'g',
})
const assemble = (exchanges: readonly JsonObject[], options: AssembleOptions = {}): Assembled =>
  assembleRollout(sampleOf(exchanges), options)
const episode = (...turns: readonly Said[]): readonly JsonObject[] => turns.map((turn) => kept(training(turn)))
const reasonOf = (assembled: Assembled): string | null => (assembled.kind === 'unusable' ? assembled.reason : null)

const one: Said = { prompt: [1, 2, 3], answer: [10, 11] }

describe('one exchange', () => {
  it('becomes a rollout of exactly what was stored with its answer', () => {
    expect(assemble(episode(one))).toEqual({
      kind: 'rollout',
      rollout: {
        record_ids: ['x', 'r'],
        group: 'g',
        score: 0.5,
        tokens: [1, 2, 3, 10, 11],
        lossMask: [1, 1],
        logProbs: [-0.1, -0.11],
        sample: sampleOf(episode(one)),
      },
      spans: [{ start: 0, end: 2, runtime_load_id: 'a:1' }],
    })
  })

  it('that was imported brings its tensors at its top, and may bring neither log-probabilities nor a load', () => {
    const { tokens = null, loss_mask = null } = training(one)
    expect(assemble([{ tokens, loss_mask }])).toMatchObject({ rollout: { tokens, lossMask: [1, 1], logProbs: [] }, spans: [] })
    expect(assemble([{ ...training(one), runtime_load_spans: null }])).toMatchObject({
      spans: [{ start: 0, end: 2, runtime_load_id: 'a:1' }],
    })
  })

  it('is read from the stored block, whatever its client put beside it', () => {
    const forged = { ...kept(training(one)), tokens: [9, 9], loss_mask: [1], rollout_log_probs: [-1] }
    expect(assemble([forged])).toMatchObject({ rollout: { tokens: [1, 2, 3, 10, 11] } })
    expect(reasonOf(assemble([{ ...forged, runtime_load_id: 'a:9' }]))).toBe('load_id_disagrees')
  })

  const several = [
    { start: 0, end: 1, runtime_load_id: 'a:1' },
    { start: 1, end: 2, runtime_load_id: 'a:2' },
  ]
  it('may have been made by several loads', () => {
    const block = { ...training(one), runtime_load_id: null, runtime_load_spans: several }
    expect(assemble([kept(block)])).toMatchObject({ kind: 'rollout', spans: several })
  })

  it.each<[string, Json, string]>([
    ['tokens', 'text', 'missing_tensors'],
    ['tokens', [], 'tensor_lengths'],
    ['tokens', [10, 11], 'tensor_lengths'],
    ['tokens', [1, 2, 3, 10, -1], 'bad_token'],
    ['tokens', [1, 2, 3, 10, 1.5], 'bad_token'],
    ['tokens', [1, 2, 3, 10, '11'], 'bad_token'],
    ['tokens', [1, 2, 3, 10, null], 'bad_token'],
    ['tokens', [1, 2, 3, 10, 100], 'bad_token'],
    ['loss_mask', null, 'missing_tensors'],
    ['loss_mask', [], 'tensor_lengths'],
    ['loss_mask', [1, 2], 'bad_mask'],
    ['loss_mask', [1, true], 'bad_mask'],
    ['loss_mask', [1, 0.5], 'bad_mask'],
    ['rollout_log_probs', 'none', 'missing_tensors'],
    ['rollout_log_probs', [-1], 'tensor_lengths'],
    ['rollout_log_probs', [-1, -1, -1], 'tensor_lengths'],
    ['rollout_log_probs', [-1, -Infinity], 'not_finite'],
    ['rollout_log_probs', [-1, Number.NaN], 'not_finite'],
    ['rollout_log_probs', [-1, null], 'not_finite'],
    ['rollout_log_probs', [-1, 2], 'bad_log_prob'],
    ['runtime_load_id', 7, 'bad_load_spans'],
    ['runtime_load_id', 'a:2', 'load_id_disagrees'],
    ['runtime_load_spans', 'a:1', 'bad_load_spans'],
    ['runtime_load_spans', [], 'bad_load_spans'],
    ['runtime_load_spans', [null], 'bad_load_spans'],
    ['runtime_load_spans', [{ start: 0, end: 1, runtime_load_id: 'a:1' }], 'bad_load_spans'],
    ['runtime_load_spans', [{ start: 1, end: 2, runtime_load_id: 'a:1' }], 'bad_load_spans'],
    ['runtime_load_spans', [{ start: 0, end: 3, runtime_load_id: 'a:1' }], 'bad_load_spans'],
    ['runtime_load_spans', [several[0] ?? null, several[0] ?? null], 'bad_load_spans'],
    ['runtime_load_spans', several, 'load_id_disagrees'],
  ])('whose %s is %j cannot be used: %s', (field, value, reason) => {
    expect(reasonOf(assemble([kept({ ...training(one), [field]: value })], { vocabulary: 100 }))).toBe(reason)
  })

  it('without any numbers cannot be used', () => {
    for (const exchange of [{}, { response: null }, { response: { training: 'x' } }, kept({})])
      expect(reasonOf(assemble([exchange]))).toBe('missing_tensors')
    expect(reasonOf(assemble([]))).toBe('missing_tensors')
  })
})

describe('several exchanges', () => {
  it('are one trajectory when each continues where the one before it ended; tokens in between are not learnt', () => {
    const assembled = assemble(
      episode(one, { prompt: [1, 2, 3, 10, 11, 4, 5], answer: [12] }, { prompt: [1, 2, 3, 10, 11, 4, 5, 12], answer: [13], load: 'a:2' }),
    )
    expect(assembled).toMatchObject({
      rollout: { tokens: [1, 2, 3, 10, 11, 4, 5, 12, 13], lossMask: [1, 1, 0, 0, 1, 1], logProbs: [-0.1, -0.11, 0, 0, -0.12, -0.13] },
      spans: [
        { start: 0, end: 2, runtime_load_id: 'a:1' },
        { start: 4, end: 5, runtime_load_id: 'a:1' },
        { start: 5, end: 6, runtime_load_id: 'a:2' },
      ],
    })
  })

  it('take the ids of the next prompt where the end of the latest answer was sent back in other ids, and do not learn those', () => {
    const drifted = episode(one, { prompt: [1, 2, 3, 10, 77, 78, 4], answer: [12] })
    expect(assemble(drifted)).toMatchObject({
      rollout: { tokens: [1, 2, 3, 10, 77, 78, 4, 12], lossMask: [1, 0, 0, 0, 1], logProbs: [-0.1, 0, 0, 0, -0.12] },
      spans: [
        { start: 0, end: 1, runtime_load_id: 'a:1' },
        { start: 4, end: 5, runtime_load_id: 'a:1' },
      ],
    })
    expect(reasonOf(assemble(drifted, { realignThresholdTokens: 0 }))).toBe('fork')
  })

  it('keep their numbers aligned when nothing of the first answer was sent back unchanged', () => {
    expect(assemble(episode(one, { prompt: [1, 2, 3, 77, 4], answer: [12] }))).toMatchObject({
      rollout: { tokens: [1, 2, 3, 77, 4, 12], lossMask: [0, 0, 1], logProbs: [0, 0, -0.12] },
      spans: [{ start: 2, end: 3, runtime_load_id: 'a:1' }],
    })
  })

  const second: Said = { prompt: [1, 2, 3, 10, 11, 4], answer: [12] }
  it.each<[string, readonly Said[]]>([
    ['another first prompt', [one, { prompt: [1, 9, 3, 10, 11, 4], answer: [12] }]],
    ['an answer before the latest changed', [one, second, { prompt: [1, 2, 3, 10, 99, 4, 12, 5], answer: [13] }]],
    ['the same question again', [one, one]],
    ['a prompt that ends inside the answer', [one, { prompt: [1, 2, 3, 10], answer: [12] }]],
    ['a shorter history', [one, second, { prompt: [1, 2, 3], answer: [13] }]],
  ])('are a fork with %s', (_what, turns) => {
    expect(reasonOf(assemble(episode(...turns)))).toBe('fork')
  })

  it('are a fork when more than the limit was sent back in other ids', () => {
    const long = { prompt: [1], answer: Array.from({ length: 1026 }, () => 5) }
    const sent = (length: number): Said => ({ prompt: [1, ...long.answer.slice(0, length), 7], answer: [12] })
    expect(assemble(episode(long, sent(2))).kind).toBe('rollout')
    expect(reasonOf(assemble(episode(long, sent(1))))).toBe('fork')
  })

  it('are not accepted when several are turned off', () => {
    expect(reasonOf(assemble(episode(one, second), { acceptMultiTurn: false }))).toBe('multi_turn_off')
    expect(assemble(episode(one), { acceptMultiTurn: false }).kind).toBe('rollout')
  })

  it('all have log-probabilities and loads, or none has', () => {
    const [first = {}] = episode(one)
    const bare = { ...training(second), rollout_log_probs: [] }
    expect(reasonOf(assemble([first, kept(bare)]))).toBe('mixed_log_probs')
    const nameless = { ...training(second), runtime_load_id: null, runtime_load_spans: null }
    expect(reasonOf(assemble([first, kept(nameless)]))).toBe('mixed_load_ids')
  })

  it('give numbers that fit together, for any conversation', () => {
    const ids = fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 6 })
    const turn = fc.record({ added: ids, answer: ids, drift: fc.nat({ max: 3 }) })
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 6 }), (turns) => {
        let sent: readonly number[] = []
        const said = turns.map(({ added, answer, drift }): Said => {
          const prompt = [...sent.slice(0, sent.length - drift), ...added]
          sent = [...prompt, ...answer]
          return { prompt, answer }
        })
        const assembled = assemble(episode(...said))
        if (assembled.kind === 'unusable') {
          expect(assembled.reason).toBe('fork')
          return
        }
        const { tokens, lossMask, logProbs } = assembled.rollout
        const begin = said[0]?.prompt.length ?? 0
        expect(tokens).toEqual(sent)
        expect([lossMask.length, logProbs.length]).toEqual([tokens.length - begin, tokens.length - begin])
        for (const [at, mark] of lossMask.entries()) {
          const isIn = assembled.spans.some(({ start, end }) => start <= at && at < end)
          expect([mark, logProbs[at]]).toEqual(isIn ? [1, -(tokens[begin + at] ?? 0) / 100] : [0, 0])
        }
      }),
    )
  })
})

describe('exchanges that were not sampled here', () => {
  const exchange = {
    messages: [{ role: 'user', content: 'hi' }],
    response: { choices: [{ message: { role: 'assistant', content: 'yo' } }] },
  }

  it('are encoded by the model’s own template, without log-probabilities', async () => {
    const asked: JsonObject[] = []
    const encode = async (body: JsonObject, answer: JsonObject) => (asked.push(body, answer), { prompt: [1, 2], answer: [3] })
    const assembled = await encodeRollout(sampleOf([exchange]), encode)
    expect(asked).toEqual([{ messages: exchange.messages }, { role: 'assistant', content: 'yo' }])
    expect(assembled).toMatchObject({ rollout: { tokens: [1, 2, 3], lossMask: [1], logProbs: [] }, spans: [] })
  })

  it.each<[string, JsonObject]>([
    ['no messages', { ...exchange, messages: null }],
    ['no answer', { messages: [] }],
    ['an answer of another format', { ...exchange, response: { content: [] } }],
    ['no choice', { ...exchange, response: { choices: [] } }],
  ])('cannot be used with %s', async (_what, odd) => {
    expect(reasonOf(await encodeRollout(sampleOf([odd]), async () => ({ prompt: [1], answer: [2] })))).toBe('not_encodable')
  })

  it('cannot be used when the engine cannot encode them', async () => {
    for (const encoded of [null, { prompt: [], answer: [1] }, { prompt: [1], answer: [] }])
      expect(reasonOf(await encodeRollout(sampleOf([exchange]), async () => encoded))).toBe('not_encodable')
  })
})
