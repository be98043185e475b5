/** What was spent is there after a restart, whatever became of the file and of the clock. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { allotCells } from './cells.ts'
import { Limits } from './limits.ts'
import { atOnce } from './testing/at-once.ts'

const NO_TURNS = { concurrent_requests: 0, requests_per_minute: 0, wait_s: 0 }
const NONE = { requests_per_minute: 0, tokens_per_minute: 0, cost_per_day: 0, concurrent_requests: 0 }
const HOUR = 3600
const NOON = 86_400 * 20_000 + 12 * HOUR

async function started(path: string, { passed = 1000, wall = NOON, upstream = NO_TURNS } = {}) {
  const limits = new Limits(
    {
      token: NONE,
      tokens: {},
      scenario: { ...NONE, cost_per_day: 1 },
      scenarios: {},
      prices: { m: { input: 1, output: 0 } },
      upstream,
    },
    { memory: allotCells(64, 1), slot: 0 },
    { time: { passed: () => passed, wall: () => wall } },
  )
  const warned: string[] = []
  const spent = await limits.keepSpent(path, (message) => void warned.push(message))
  const spend = (money: number, scenario = 's'): void =>
    atOnce(limits.admit(null, scenario, 0))?.settle({
      model: 'm',
      inputTokens: money * 1e6,
      outputTokens: 0,
      askedBytes: 0,
      answeredBytes: 0,
      isWhole: true,
    })
  return { limits, spend, spent, warned }
}

const fresh = (): string => join(temporaryFolder(), 'spent.json')
const REFUSED = expect.objectContaining({ code: 'cost_limit' })

it('a service that is started again goes on counting, whatever time its machine counts from', async () => {
  const path = fresh()
  const first = await started(path)
  first.spend(0.7)
  first.spend(2, 'over')
  await first.spent.close()
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const second = await started(path, { passed: 5, wall: NOON + HOUR })
  expect(() => second.spend(0, 'over')).toThrow(REFUSED)
  second.spend(0.3)
  expect(() => second.spend(0)).toThrow(REFUSED)
  await second.spent.close()
  // What went beyond counts in the day after it.
  const nextDay = await started(path, { passed: 5, wall: NOON + 13 * HOUR })
  nextDay.spend(0.1)
  expect(() => nextDay.spend(0, 'over')).toThrow(REFUSED)
  await nextDay.spent.close()
})

it('a clock that was set back makes no day longer than a day', async () => {
  const path = fresh()
  const first = await started(path)
  first.spend(1)
  await first.spent.close()
  const second = await started(path, { wall: NOON - 1000 * 86_400 })
  expect(() => second.spend(0)).toThrow(expect.objectContaining({ detail: { retryAfterSeconds: 86_400 } }))
  await second.spent.close()
})

it.each(['', '{', '[]', '{"format":2}', '{"format":1,"spent":{}}'])(
  'a file that reads %j is told of, and counting begins anew',
  async (text) => {
    const path = fresh()
    writeFileSync(path, text)
    const { spend, spent, warned } = await started(path)
    expect(warned).toHaveLength(1)
    spend(1)
    await spent.close()
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ format: 1, spent: [[expect.any(String), 1, expect.any(Number)]] })
  },
)

it('rows that are none are left out', async () => {
  const path = fresh()
  const rows = [
    null,
    [],
    ['zz', 1, NOON],
    ['0123456789abcdef', -1, NOON],
    ['0123456789abcdef', 'much', NOON],
    ['0123456789abcdef', 1, null],
  ]
  writeFileSync(path, JSON.stringify({ format: 1, spent: rows }))
  const { spend, spent, warned } = await started(path)
  spend(0.5)
  await spent.close()
  expect(warned).toEqual([])
})

it('a folder that cannot be written is told of, and nothing else fails', async () => {
  const path = join(fresh(), 'below', 'spent.json')
  writeFileSync(join(path, '../..'), 'a file')
  const { spend, spent, warned } = await started(path)
  spend(0.5)
  await spent.close()
  expect(warned.length).toBeGreaterThan(0)
  expect(existsSync(path)).toBe(false)
})

it('what could not be written is written once that is possible', async () => {
  const file = fresh()
  const path = join(file, 'spent.json')
  writeFileSync(file, 'a file where the folder should be')
  const { spend, spent } = await started(path)
  spend(0.5)
  await spent.close()
  rmSync(file)
  await spent.close()
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ spent: [[expect.any(String), 0.5, expect.any(Number)]] })
})

it('turns at the upstream are not written as money, and without any there is no file', async () => {
  const path = fresh()
  const { limits, spent } = await started(path, { upstream: { concurrent_requests: 10, requests_per_minute: 0, wait_s: 1 } })
  for (let turn = 0; turn < 3; turn += 1) void limits.turn('s', () => new AbortController().signal)
  await spent.close()
  expect(existsSync(path)).toBe(false)
})
