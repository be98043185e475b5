/** What exchanges seem to have come to: signs in every format, and what a weak outcome can never be. */
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject, Sample } from '../contract/index.ts'
import { WeakOutcome, weakOutcomes } from './index.ts'
import { exchangeOf, TALK_FORMATS, type TalkTurn } from './testing/talks.ts'

const ASK: TalkTurn = { person: 'Write the year 1994 as a roman numeral, please.' }
const ANSWER: TalkTurn = { agent: 'MCMXCIV' }

const sample = (exchange: JsonObject, more: Partial<Sample> = {}): Sample => ({
  record_ids: ['r'],
  exchanges: [exchange],
  score: null,
  feedback: null,
  ...more,
})
const seems = (...talks: readonly (readonly TalkTurn[])[]): readonly WeakOutcome[] =>
  weakOutcomes(talks.map((talk) => sample(exchangeOf(talk))))
const first = (...talks: readonly (readonly TalkTurn[])[]): WeakOutcome => {
  const [outcome] = seems(...talks)
  if (outcome === undefined) throw new Error('there is no outcome')
  return outcome
}
const verdictOf = ({ seemsFailed, seemsFine }: WeakOutcome): string => (seemsFailed ? 'failed' : seemsFine ? 'fine' : 'unknown')

const test = (result: string, isError = false): TalkTurn => ({ call: 'bash', input: { command: 'cd app && npm test' }, result, isError })

describe.each(TALK_FORMATS)('in the format %s', (format) => {
  const one = (...said: readonly TalkTurn[]): string => {
    const [outcome] = weakOutcomes([sample(exchangeOf(said, format))])
    return `${outcome === undefined ? '' : verdictOf(outcome)}: ${outcome?.reason}`
  }

  it('tests that failed last, and tests that passed last', () => {
    expect(one(ASK, test('# pass 3\n# fail 1'), { agent: 'Done.' })).toBe('failed: the last tests that ran in it failed')
    expect(one(ASK, test('# fail 1'), test('# pass 4\n# fail 0'), { agent: 'Done.' })).toBe('fine: the last tests that ran in it passed')
  })

  it('the same asked again later, and a correction in the next turn', () => {
    const again = [exchangeOf([ASK, ANSWER], format, { session: 's' }), exchangeOf([ASK, ANSWER], format, { session: 's' })]
    expect(weakOutcomes(again.map((each) => sample(each))).map(verdictOf)).toEqual(['failed', 'unknown'])
    const corrected = [
      [ASK, ANSWER],
      [ASK, ANSWER, { person: 'No, that is off by one.' }, { agent: 'Sorry.' }],
    ] as const
    const [before, after] = weakOutcomes(corrected.map((each) => sample(exchangeOf(each, format))))
    expect(before).toMatchObject({ seemsFailed: true, reason: 'the person says that it is wrong', said: 'No, that is off by one.' })
    expect(after).toMatchObject({ seemsFailed: false })
  })

  it('work that ended without an answer', () => {
    expect(one(ASK, { call: 'read', input: { path: 'a' } })).toBe('failed: it ended without an answer')
  })
})

describe('the signs', () => {
  it.each<readonly [string, string]>([
    ['Exit code 1\nsomething', 'failed'],
    ['{"output":"x","metadata":{"exit_code":0}}', 'fine'],
    ['Process exited with code 2', 'failed'],
    ['== 3 passed in 0.1s ==', 'fine'],
    ['== 1 failed, 3 passed in 0.1s ==', 'failed'],
    ['Tests: 2 failed, 8 passed', 'failed'],
    ['test result: ok. 4 passed; 0 failed', 'fine'],
    ['ok  \texample.com/a\t0.1s', 'fine'],
    ['--- FAIL: TestA\nFAIL\texample.com/a', 'failed'],
    ['(no output)', 'unknown'],
  ])('of a test run that printed %j: %s', (printed, verdict) => {
    expect(verdictOf(first([ASK, test(printed), { agent: 'Done.' }]))).toBe(verdict)
  })

  it.each(['ls test', 'cat test.log', 'git commit -m "npm test"', 'echo npm test', 'grep -r pytest .'])('no test run: %s', (command) => {
    expect(verdictOf(first([ASK, { call: 'bash', input: { command }, result: 'FAIL' }, { agent: 'Done.' }]))).toBe('unknown')
  })

  it.each<Json>(['pytest -q', ['bash', '-lc', 'npx vitest run'], 'CI=1 go test ./...', 'make test', './node_modules/.bin/jest a'])(
    'a test run: %j',
    (command) => {
      expect(verdictOf(first([ASK, { call: 'shell', input: { command }, result: '1 failed' }, { agent: 'Done.' }]))).toBe('failed')
    },
  )

  it.each<readonly [string, string]>([
    ['wrong, try again', 'failed'],
    ['Nein, das meinte ich nicht', 'failed'],
    ['不对，再试一次', 'failed'],
    ['It still fails on line 3', 'unknown'],
    ['still failing on line 3', 'failed'],
    ['no problem, now do the next', 'unknown'],
    ['Thanks!', 'fine'],
    ['thanks, but it is still slow', 'unknown'],
    ['Notify me when it is done', 'unknown'],
    ['[Request interrupted by user]', 'failed'],
  ])('of the next words %j: %s', (person, verdict) => {
    expect(verdictOf(first([ASK, ANSWER], [ASK, ANSWER, { person }, { agent: 'x' }]))).toBe(verdict)
  })

  it('of the next turn are the same words in any language, where it asks the same again', () => {
    const asked = 'Перепиши этот абзац короче и без повторов'
    expect(first([{ person: asked }, ANSWER], [{ person: asked }, ANSWER, { person: `${asked}!` }, ANSWER]).reason).toBe(
      'the same was asked again in the next turn',
    )
  })

  it('contradict each other, and the person counts more than tests', () => {
    const passed = [ASK, test('4 passed'), ANSWER]
    expect(verdictOf(first(passed, [...passed, { person: 'no, wrong file' }, ANSWER]))).toBe('failed')
  })

  it('of one call in the middle of the work are those of none', () => {
    const [call] = seems([ASK, test('1 failed')], [ASK, test('1 failed'), { agent: 'It fails.' }])
    expect(call).toMatchObject({ seemsFailed: false, reason: 'a later exchange goes on with it' })
  })

  it('are in what a report says without a score', () => {
    const [outcome] = weakOutcomes([sample(exchangeOf([ASK, ANSWER]), { feedback: 'Wrong: it is MCMXCIV.' })])
    expect(outcome).toMatchObject({ seemsFailed: true, said: 'Wrong: it is MCMXCIV.' })
  })

  it('are none of an exchange of no known shape', () => {
    for (const exchange of [{}, { messages: 'x' }, { messages: [null, 7], response: [] }, { input: {} }, { contents: 3 }])
      expect(weakOutcomes([sample(exchange)]).map(verdictOf)).toEqual(['unknown'])
  })
})

describe('a weak outcome', () => {
  const [failed, fine] = seems([ASK, test('1 failed'), ANSWER], [{ person: 'another request' }, test('4 passed'), ANSWER])

  it('orders what seems to have failed first, and tells people how sure it is', () => {
    expect([fine, failed].toSorted((a, b) => (a && b ? WeakOutcome.compare(a, b) : 0))[0]).toBe(failed)
    expect(JSON.parse(JSON.stringify(failed))).toEqual({ weak_score: 0.1, confidence: 0.7, reason: 'the last tests that ran in it failed' })
  })

  it('is no score: the compiler refuses it as one, and no number can be read from it', () => {
    // @ts-expect-error A weak outcome is no score.
    const scored: Pick<Sample, 'score'> = { score: failed }
    expect(Number(scored.score)).toBeNaN()
    expect(Object.values(failed ?? {}).filter((value) => typeof value === 'number')).toEqual([])
  })
})
