import { expect, it } from 'vitest'
import { trainerOf } from '../../../test/fixtures/trainers/orders.ts'
import { scopeOf } from './host.ts'

it('a trainer is not told where its recipe was loaded from, nor what it is held to', () => {
  const { plugin: _plugin, limits: _limits, ...told } = trainerOf('one', { component: 'left' })
  expect(scopeOf(trainerOf('one', { component: 'left' }))).toStrictEqual(told)
})
