import { expect, it } from 'vitest'
import { draw, pick, type Outlook } from './sample.ts'

const PROBABILITIES = [0.5, 0.25, 0.125, 0.125]
const whole: Outlook = { tokens: [7, 3, 9, 1], logProbs: PROBABILITIES.map(Math.log), isWhole: true }
const likeliest: Outlook = { tokens: [7, 3], logProbs: whole.logProbs.slice(0, 2), isWhole: false }
const sampling = { maxTokens: 1, temperature: 1 }

it.each([
  ['nothing', {}, 0.49, 7],
  ['nothing', {}, 0.51, 3],
  ['nothing', {}, 0.9, 1],
  ['nothing, at the very end', {}, 1 - 2 ** -53, 1],
  ['a temperature of 0', { temperature: 0 }, 0.99, 7],
  ['the first two', { topK: 2 }, 0.66, 7],
  ['the first two', { topK: 2 }, 0.67, 3],
  ['no number of tokens', { topK: -1 }, 0.9, 1],
  ['three quarters', { topP: 0.75 }, 0.99, 3],
  ['a little more than three quarters', { topP: 0.76 }, 0.99, 9],
  ['the smallest share', { topP: 0 }, 0.99, 7],
  ['a share of the first three', { topK: 3, topP: 0.5 }, 0.99, 7],
])('kept to %s, what is drawn decides', (_, filter, chance, token) => {
  expect(pick(whole, { ...sampling, ...filter }, chance)?.token).toBe(token)
})

it('the log-probability is of the token before any filter', () => {
  expect(pick(whole, { ...sampling, topK: 1 }, 0.9)?.logProb).toBe(Math.log(0.5))
})

it.each([
  ['nothing is kept to and the draw is beyond them', {}, 0.8, null],
  ['nothing is kept to and the draw is among them', {}, 0.6, 3],
  ['more tokens are kept to than these', { topK: 3 }, 0.8, null],
  ['no more tokens are kept to than these', { topK: 2 }, 0.99, 3],
  ['a share is kept to that they reach', { topP: 0.7 }, 0.99, 3],
  ['a share is kept to that they do not reach', { topP: 0.8 }, 0.1, null],
])('of the likeliest alone, all must be looked at or not when %s', (_, filter, chance, token) => {
  expect(pick(likeliest, { ...sampling, ...filter }, chance)?.token ?? null).toBe(token)
})

it('draws depend on the seed and the place alone, and are spread from 0 up to 1', () => {
  expect(draw(1, 2)).toBe(draw(1, 2))
  expect(new Set([draw(1, 2), draw(1, 3), draw(2, 2), draw(12, 0)]).size).toBe(4)
  const draws = Array.from({ length: 2000 }, (_, place) => draw(9, place))
  expect(draws.every((one) => one >= 0 && one < 1)).toBe(true)
  expect(draws.reduce((sum, one) => sum + one, 0) / draws.length).toBeCloseTo(0.5, 1)
})
