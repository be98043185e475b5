import { expect, it } from 'vitest'
import { trainerOf } from '../../../test/fixtures/trainers/orders.ts'
import { scopeOf } from './host.ts'

it('a trainer sees neither where its recipe was loaded from nor its limits', () => {
  const { plugin: _plugin, limits: _limits, ...seen } = trainerOf('one', { component: 'left' })
  expect(scopeOf(trainerOf('one', { component: 'left' }))).toStrictEqual(seen)
})
