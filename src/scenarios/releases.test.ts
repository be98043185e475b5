/** Whether a scenario has a release that a client names: what is asked of the store, and what is remembered. */
import { expect, it, vi } from 'vitest'
import { commit } from '../../conformance/store-samples.ts'
import { keptChain } from '../../test/support/chain.ts'
import type { Commit } from '../contract/index.ts'
import { withTotals } from './read-history.ts'

const ROWS = 600
const made = (step: number): Commit => ({
  ...commit(step),
  release: { release_id: `r${step}`, parent_release_id: step === 0 ? null : `r${step - 1}`, content_id: `c${step}` },
})
const rows = Array.from({ length: ROWS }, (_, step) => made(step))

async function asked() {
  const chain = await keptChain(rows)
  return { ...chain, look: vi.spyOn(chain.store, 'release') }
}

it('the served release is known without a look', async () => {
  const { releases, look } = await asked()
  expect(releases.has(`r${ROWS - 1}`)).toBe(true)
  expect(look).not.toHaveBeenCalled()
})

it('an id is looked up once, whether there is such a release or not', async () => {
  const { releases, look } = await asked()
  expect([await releases.has('r3'), await releases.has('none')]).toEqual([true, false])
  expect([releases.has('r3'), releases.has('none')]).toEqual([true, false])
  expect(look).toHaveBeenCalledTimes(2)
})

it('an id that there was not is looked up again after a row has landed, also when it landed during the look', async () => {
  const { releases, look, history, store } = await asked()
  expect(await releases.has('r600')).toBe(false)
  const during = releases.has('r601')
  for (const step of [600, 601, 602]) {
    const row = await withTotals(store, history, made(step))
    await store.commit(row)
    history.follow(row)
  }
  await during
  look.mockClear()
  expect([await releases.has('r600'), await releases.has('r601'), await releases.has('r3')]).toEqual([true, true, true])
  expect(look).toHaveBeenCalledTimes(3)
})

it('a row that is stored and not yet served here makes no release known', async () => {
  const { releases, store } = await asked()
  await store.commit(made(600))
  expect(await releases.has('r600')).toBe(false)
  expect(await releases.find('r600')).toBeNull()
})

it('however many ids clients name, few are remembered, and none that is long', async () => {
  const { releases, look } = await asked()
  const long = 'x'.repeat(10_000)
  for (let step = 0; step < ROWS; step += 1) await releases.has(`r${step}`)
  await releases.has(long)
  look.mockClear()
  for (let step = ROWS - 2; step >= 0; step -= 1) await releases.has(`r${step}`)
  expect(look.mock.calls.length).toBeGreaterThanOrEqual(ROWS - 300)
  look.mockClear()
  await releases.has(long)
  expect(look).toHaveBeenCalledTimes(1)
})
