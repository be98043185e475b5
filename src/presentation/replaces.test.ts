/** What a change takes away of earlier requests. */
import { describe, expect, it } from 'vitest'
import { replacedRequests } from './replaces.ts'
import { HELD, PROMOTED, rowOf } from './testing/rows.ts'

const asked = { id: 'r1', text: 'Look parcels up.' }
const change = (op: string, id: string) => ({ mutations: [{ op, id }] })
const saidOf = (...rows: readonly ReturnType<typeof rowOf>[]): readonly string[] => {
  const last = rows.at(-1) ?? rowOf(0)
  return replacedRequests(rows, last, ({ step }) => `v${step}`)
}

describe('a change', () => {
  it('replaces or removes what was asked for in a release that went live', () => {
    const made = rowOf(1, { metrics: { training_request: asked, ...change('create', 'parcel') } })
    expect(saidOf(made, rowOf(2, { metrics: change('update', 'parcel') }))).toEqual(['It replaces parcel, which was asked for in v1.'])
    expect(saidOf(made, rowOf(2, { metrics: change('remove', 'parcel') }))).toEqual(['It removes parcel, which was asked for in v1.'])
    expect(saidOf(made, rowOf(2, { metrics: change('update', 'other') }))).toEqual([])
  })

  it('replaces nothing of what was learned from traffic since, nor of what never went live', () => {
    const made = rowOf(1, { metrics: { training_request: asked, ...change('create', 'parcel') } })
    const learned = rowOf(2, { metrics: change('update', 'parcel') })
    expect(saidOf(made, learned, rowOf(3, { metrics: change('update', 'parcel') }))).toEqual([])
    const held = { ...HELD, metrics: made.metrics }
    expect(saidOf(held, rowOf(3, { metrics: change('update', 'parcel') }))).toEqual([])
    expect(saidOf(held, PROMOTED, rowOf(3, { metrics: change('update', 'parcel') }))).toEqual([
      'It replaces parcel, which was asked for in v1.',
    ])
  })
})
