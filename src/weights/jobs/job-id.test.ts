import { describe, expect, it } from 'vitest'
import { jobOf, type JobContent, type Row } from './job-id.ts'
import { ADAM, LORA } from './testing.ts'
import { callsOf, datumOf, isLearntFrom, trainedTokens } from './rows.ts'

const row: Row = { record_ids: ['a'], tokens: [1, 2, 3], lossMask: [1, 1], logProbs: [-1, -2], advantages: [0.5, 0.5] }
const content: JobContent = {
  base: { name: 'tiny', digest: null },
  parentState: null,
  lora: LORA,
  loss: 'importance_sampling',
  lossConfig: {},
  adam: ADAM,
  rows: [row],
}

describe('the name of a job', () => {
  it('is the same for the same content, with its fields in any order', () => {
    const again: JobContent = JSON.parse(JSON.stringify({ ...content, rows: [{ ...row, sample: 'not a part of it' }], step: 7 }))
    expect(jobOf(again).id).toBe(jobOf(content).id)
    expect(jobOf(content).id).toMatch(/^[0-9a-f]{64}$/)
  })

  it.each<readonly [string, Partial<JobContent>]>([
    ['base', { base: { name: 'tiny', digest: 'x' } }],
    ['parent', { parentState: 'tinker://m/weights/x' }],
    ['adapter', { lora: { ...content.lora, rank: 8 } }],
    ['loss', { loss: 'ppo' }],
    ['setting of the loss', { lossConfig: { clip_low_threshold: 0.7 } }],
    ['optimizer', { adam: { ...content.adam, learning_rate: 2e-4 } }],
    ['record', { rows: [{ ...row, record_ids: ['b'] }] }],
    ['token', { rows: [{ ...row, tokens: [1, 2, 4] }] }],
    ['mask', { rows: [{ ...row, lossMask: [1, 0] }] }],
    ['log-probability', { rows: [{ ...row, logProbs: [-1, -2.5] }] }],
    ['weight', { rows: [{ ...row, advantages: [0.5, 0.25] }] }],
    ['row', { rows: [row, row] }],
  ])('is another for another %s', (_what, change) => {
    expect(jobOf({ ...content, ...change }).id).not.toBe(jobOf(content).id)
  })
})

describe('rows', () => {
  it('are split into calls in their order, each with a limit of tokens; a longer row is a call of its own', () => {
    const rows = [3, 3, 9, 2, 3].map((length) => ({ tokens: Array.from({ length }, (_, at) => at) }))
    expect(callsOf(rows, 6).map((call) => call.map(({ tokens }) => tokens.length))).toEqual([[3, 3], [9], [2, 3]])
    expect(callsOf([], 6)).toEqual([])
  })

  it('weigh their targets where there is no ratio', () => {
    const masked: Row = { ...row, lossMask: [0, 1], logProbs: [] }
    expect(datumOf(masked, 'cross_entropy')).toEqual({ inputs: [1, 2], targets: [2, 3], numbers: { weights: [0, 0.5] } })
  })

  it('are learnt from when an unmasked token has a weight', () => {
    expect(isLearntFrom(row)).toBe(true)
    expect(isLearntFrom({ ...row, advantages: [0, 0] })).toBe(false)
    expect(isLearntFrom({ ...row, lossMask: [0, 0] })).toBe(false)
    expect(trainedTokens([row, { ...row, lossMask: [0, 1] }])).toBe(3)
  })
})
