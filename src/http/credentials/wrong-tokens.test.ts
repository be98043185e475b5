/** Wrong tokens: when they are slowed, for whom, and until when. */
import { expect, it } from 'vitest'
import { WRONG_TOKENS_PER_MINUTE } from '../../contract/index.ts'
import { WrongTokens } from './wrong-tokens.ts'

function opened() {
  const time = { now: 0 }
  const waits: (() => void)[] = []
  const wrong = new WrongTokens(
    () => time.now,
    () => new Promise((resolve) => void waits.push(() => resolve(undefined))),
  )
  const guess = (address: string, times = WRONG_TOKENS_PER_MINUTE): void => {
    for (let made = 0; made < times; made += 1) wrong.note(address)
  }
  return { wrong, time, waits, guess }
}

it('a few wrong tokens slow nobody', () => {
  const { wrong, guess } = opened()
  expect(wrong.isQuiet).toBe(true)
  guess('10.0.0.1', WRONG_TOKENS_PER_MINUTE - 1)
  expect(wrong.isQuiet).toBe(false)
  expect(wrong.slowed('10.0.0.1')).toBeNull()
})

it('many of one address slow that address alone, until the minute is over', () => {
  const { wrong, guess, time } = opened()
  guess('10.0.0.1')
  expect(wrong.slowed('10.0.0.2')).toBeNull()
  expect(wrong.slowed('10.0.0.1')).toBeInstanceOf(Promise)
  time.now = 60_000
  expect(wrong.slowed('10.0.0.3')).toBeNull()
})

it('at most eight wait at once, and further ones are refused unjudged', async () => {
  const { wrong, guess, waits } = opened()
  guess('10.0.0.1')
  const waiting = Array.from({ length: 8 }, () => Promise.resolve(wrong.slowed('10.0.0.1')))
  expect(() => wrong.slowed('10.0.0.1')).toThrow(expect.objectContaining({ kind: 'limited', code: 'wrong_tokens' }))
  for (const end of waits) end()
  await Promise.all(waiting)
  expect(wrong.slowed('10.0.0.1')).toBeInstanceOf(Promise)
})

it('addresses of one small network of IPv6 count together', () => {
  const { wrong, guess } = opened()
  for (let host = 1; host <= WRONG_TOKENS_PER_MINUTE; host += 1) guess(`2001:db8:0:1::${host.toString(16)}`, 1)
  expect(wrong.slowed('2001:db8:0:1:aaaa:bbbb:cccc:dddd')).toBeInstanceOf(Promise)
  expect(wrong.slowed('2001:db8:0:2::1')).toBeNull()
  guess('2001::3:a:b:c:d')
  expect(wrong.slowed('2001:0:0:3:1:1:1:1')).toBeInstanceOf(Promise)
  expect(wrong.slowed('2001::4:a:b:c:d')).toBeNull()
  guess('::1')
  expect(wrong.slowed('::1')).toBeInstanceOf(Promise)
})

it('more addresses than are kept push out the oldest', () => {
  const { wrong, guess } = opened()
  guess('10.0.0.1')
  for (let other = 0; other < 10_000; other += 1) wrong.note(`other ${other}`)
  expect(wrong.slowed('10.0.0.1')).toBeNull()
})
