/** Whether a result may still land, by what was published since its base. */
import { expect, it } from 'vitest'
import { commit } from '../../conformance/store-samples.ts'
import type { Commit, Release } from '../contract/index.ts'
import { storeOf } from '../../test/support/chain.ts'
import { standingOf } from './step.ts'

const release = (id: string): Release => ({ release_id: id, parent_release_id: null, content_id: `content of ${id}` })
const base = release('base')

const row = (id: string | null, more: Partial<Commit> = {}): Commit => ({
  ...commit(1),
  release: id === null ? null : release(id),
  outcome: id === null ? 'rejected' : 'published',
  ...more,
})

const standingAfter = async (rows: readonly Commit[], component: string): ReturnType<typeof standingOf> =>
  standingOf(await storeOf(rows.map((each, step) => ({ ...each, step }))), base, component)

it.each<[string, string, readonly Commit[]]>([
  ['in place', 'nothing', []],
  ['in place', 'steps that published nothing', [row(null), row(null, { component: 'b' })]],
  ['in place', 'a release held for review', [row('h', { outcome: 'pending', pending: true })]],
  ['beside', 'another component', [row('x', { component: 'b' })]],
  ['beside', 'several other components', [row('x', { component: 'b' }), row(null, { component: 'a' }), row('y', { component: 'c' })]],
  ['moved', 'a rollback', [row('x', { operation: 'rollback' })]],
  ['moved', 'a promote of another component', [row('x', { operation: 'promote', component: 'b' })]],
  ['moved', 'its own component', [row('x', { component: 'a' })]],
  ['moved', 'another component and then a rollback', [row('x', { component: 'b' }), row('y', { operation: 'rollback' })]],
])('a result is %s after %s', async (standing, _what, since) => {
  const before = [row('older', { operation: 'create' }), row('base', { component: 'a' })]
  expect(await standingAfter([...before, ...since], 'a')).toBe(standing)
})

it('a result whose base no row names has moved', async () => {
  expect(await standingAfter([row('older', { operation: 'create' })], 'a')).toBe('moved')
})

it('in a scenario of a single trainer every other publication moves', async () => {
  expect(await standingAfter([row('base'), row('x')], '')).toBe('moved')
})
