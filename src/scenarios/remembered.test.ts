import { describe, expect, it } from 'vitest'
import type { Commit } from '../contract/index.ts'
import { remembered } from './remembered.ts'

const row = (step: number, more: Partial<Commit> = {}): Commit => ({
  step,
  operation: 'train',
  recorded_at: step,
  release: null,
  pending: false,
  outcome: 'published',
  consumed_ids: [`x${step}`, `r${step}`],
  metrics: { step },
  state: { settled_through: step, set_aside: {}, trainer: { steps: step } },
  ...more,
})
const created = row(0, { operation: 'create', consumed_ids: [], state: { recipe: 'r', folder: 'f' } })
const rollback = (step: number) => row(step, { operation: 'rollback', consumed_ids: [], state: {} })

/** As a scenario reads them: page by page, or one by one as they land. */
const readIn = (pages: readonly (readonly Commit[])[]): readonly Commit[] =>
  pages.reduce((known: readonly Commit[], page) => remembered(known, page), [])

describe('the rows a scenario keeps in memory', () => {
  const history = [created, row(1, { component: 'a' }), row(2, { component: 'b' }), row(3, { component: 'a' }), rollback(4)]

  it.each<[string, readonly (readonly Commit[])[]]>([
    ['at once', [history]],
    ['one by one', history.map((one) => [one])],
    ['in pages', [history.slice(0, 2), history.slice(2)]],
  ])('hold neither what was consumed nor a state but the latest of each trainer, read %s', (_how, pages) => {
    const rows = readIn(pages)
    expect(rows.flatMap(({ consumed_ids }) => consumed_ids)).toEqual([])
    expect(rows.map(({ state }) => state['trainer'])).toEqual([undefined, undefined, { steps: 2 }, { steps: 3 }, undefined])
    expect(rows.map(({ step, metrics }) => [step, metrics])).toEqual(history.map(({ step, metrics }) => [step, metrics]))
  })

  it('always hold what the creation says, and the state a trainer goes on from, however many moves come after it', () => {
    const moves = Array.from({ length: 5 }, (_, at) => [rollback(at + 2)])
    const rows = readIn([[created], [row(1)], ...moves])
    expect(rows[0]).toEqual(created)
    expect(rows[1]?.state).toEqual({ settled_through: 1, set_aside: {}, trainer: { steps: 1 } })
  })

  it('grow by nothing that a trainer leaves behind', () => {
    const large = { trainer: { text: 'x'.repeat(1000) } }
    const rows = readIn([[created], ...Array.from({ length: 200 }, (_, at) => [row(at + 1, { state: large })])])
    expect(rows.filter(({ state }) => Object.keys(state).length > 0).map(({ step }) => step)).toEqual([0, 200])
  })

  it('leave those they were made from as they were', () => {
    const given = [row(1), row(2)]
    remembered(given, [row(3)])
    expect(given).toEqual([row(1), row(2)])
  })
})
