/** The always-valid test on live scores: what it promises, and what one client cannot do to it. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomOf } from '../../test/crash/random.ts'
import { LIVE_LEVEL, LiveScores } from './live-scores.ts'

interface Life {
  readonly seed: string
  readonly provisional: number
  readonly head: number
  readonly share: number
}

/** After how many sessions it said that the provisional release is worse; null within so many. Looked at after every one. */
function withdrawnAfter({ seed, provisional, head, share }: Life, sessions: number): number | null {
  const scores = new LiveScores()
  const random = randomOf(seed)
  for (let n = 0; n < sessions; n += 1) {
    const isDrawn = random.fraction() < share
    const score = random.fraction() < (isDrawn ? provisional : head) ? 1 : 0
    scores.add(isDrawn ? 'provisional' : 'head', `${n}`, score)
    if (scores.isWorse) return n + 1
  }
  return null
}

const lives = (count: number, life: Omit<Life, 'seed'>, sessions: number): readonly (number | null)[] =>
  Array.from({ length: count }, (_, n) => withdrawnAfter({ ...life, seed: `life ${n}` }, sessions))

const middle = (ends: readonly (number | null)[]): number => ends.map((end) => end ?? Infinity).toSorted((a, b) => a - b)[50] ?? 0

describe('a provisional release that is not worse', () => {
  it.each([0.1, 0.5, 0.9])('is withdrawn at most as often as promised, looked at after every score (share %s)', (share) => {
    const wrong = lives(200, { provisional: 0.5, head: 0.5, share }, 1000).filter((end) => end !== null).length
    // Twice the standard error above the level.
    expect(wrong / 200).toBeLessThan(LIVE_LEVEL + 2 * Math.sqrt((LIVE_LEVEL * (1 - LIVE_LEVEL)) / 200))
  })

  it('is hardly ever withdrawn when it is better', () => {
    expect(lives(100, { provisional: 0.6, head: 0.5, share: 0.5 }, 1000).filter((end) => end !== null).length).toBeLessThan(3)
  })
})

describe('a provisional release that is worse', () => {
  it('is withdrawn, sooner where it is much worse', () => {
    const much = lives(100, { provisional: 0.25, head: 0.75, share: 0.5 }, 400)
    const less = lives(100, { provisional: 0.5, head: 0.75, share: 0.5 }, 2000)
    expect(much.every((end) => end !== null)).toBe(true)
    expect(less.filter((end) => end !== null).length).toBeGreaterThan(90)
    expect(middle(much)).toBeLessThan(middle(less))
  })
})

/** The evidence after a pair whose provisional side has this score, against 0. */
const end = (score: number): number => {
  const scores = new LiveScores()
  scores.add('head', 'a', 0)
  scores.add('provisional', 'b', score)
  return Number(scores.summary()['e_value'])
}

describe('one client', () => {
  it('counts once per session, however many scores it sends', () => {
    const scores = new LiveScores()
    scores.add('head', 'other', 1)
    for (let n = 0; n < 10_000; n += 1) scores.add('provisional', 'flood', 0)
    expect(scores.summary()).toMatchObject({ pairs: 1, provisional_sessions: 1, head_sessions: 1 })
    expect(scores.isWorse).toBe(false)
  })

  it('moves the evidence by one point at most, whatever score it sends', () => {
    expect(end(-1e300)).toBe(end(-1))
    expect(end(1e300)).toBe(end(1))
    expect(end(-1)).toBeLessThan(2)
  })

  it('leaves the means numbers, whatever scores it sends', () => {
    const scores = new LiveScores()
    for (const session of ['a', 'b', 'c']) scores.add('head', session, 1e308)
    expect(scores.summary()).toMatchObject({ head_mean: 1e308, provisional_mean: null })
  })

  it('cannot count for both sides in one session', () => {
    const scores = new LiveScores()
    scores.add('provisional', 's', 0)
    scores.add('head', 's', 1)
    expect(scores.summary()).toMatchObject({ pairs: 0, provisional_sessions: 1, head_sessions: 0 })
  })
})

it('never pairs two scores of one side, and pairs every score at most once', () => {
  const unit = fc.record({ isHead: fc.boolean(), score: fc.double({ min: -2, max: 3, noNaN: true }) })
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 200 }), (units) => {
      const scores = new LiveScores()
      for (const [n, { isHead, score }] of units.entries()) scores.add(isHead ? 'head' : 'provisional', `${n}`, score)
      const heads = units.filter(({ isHead }) => isHead).length
      expect(Number(scores.summary()['pairs'])).toBeLessThanOrEqual(Math.min(heads, units.length - heads))
      expect(Number.isFinite(Number(scores.summary()['e_value']))).toBe(true)
    }),
  )
})
