import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/contract/index.ts'
import { plain } from '../../../src/harness/testing/adapters.ts'
import { editId, memoryOf, openArchive, treeId, withCandidate, withScore, type ReflectArchive, type EditCandidate } from './archive.ts'
import { briefOf, ruleOf } from './testing.ts'

const empty: ReflectArchive = { round: 1, base: treeId([]), tasks: [], candidates: [] }

function candidateOf(id: string, given: Partial<EditCandidate> = {}): EditCandidate {
  const mutations = [ruleOf(id, `Mind the ${id}.`)]
  return {
    id: editId(mutations),
    mutations,
    design: '',
    reflection: '',
    requires: [],
    parents: [],
    round: 1,
    base: treeId([]),
    outcome: 'shelved',
    scores: [{ task: 'a', score: 1, current: 0 }],
    ...given,
  }
}

const opened = (archive: ReflectArchive, given: Parameters<typeof briefOf>[1] = {}): ReflectArchive =>
  openArchive(briefOf(plain, { memory: memoryOf(archive), ...given }))

describe('memory', () => {
  it('comes back as it was left, one round later', () => {
    const archive = withScore(withCandidate(empty, candidateOf('units')), 'a', 0.5)
    expect(opened(archive)).toEqual({ ...archive, round: 2 })
  })

  it('of another shape, or none at all, is an empty archive', () => {
    const good = memoryOf(withCandidate(empty, candidateOf('units')))
    const candidates = Array.isArray(good['candidates']) ? good['candidates'] : []
    const strange: readonly JsonObject[] = [
      {},
      { ...good, shape: 'reflect/0' },
      { ...good, candidates: [{ id: 'x', mutations: 'all' }] },
      { ...good, candidates: Array.from({ length: 1000 }, () => candidates[0] ?? null) },
      { ...good, tasks: [{ task: 'a', recent: ['1'] }] },
      { ...good, round: -1 },
    ]
    for (const memory of strange) {
      expect(openArchive(briefOf(plain, { memory }))).toMatchObject({ round: 1, tasks: [], candidates: [] })
    }
  })

  it('holds no more than fits: the best of a task outlives what is newer', () => {
    const best = candidateOf('best', { round: 1, scores: [{ task: 'rare', score: 1, current: 0 }] })
    const others = Array.from({ length: 60 }, (_, index) => candidateOf(`other-${index}`, { round: index + 2, scores: [] }))
    const long = Array.from({ length: 8 }, (_, index) =>
      candidateOf(`long-${index}`, { mutations: [ruleOf(`long-${index}`, 'x'.repeat(40_000))], round: 100 + index, scores: [] }),
    )
    const many = memoryOf([best, ...others].reduce(withCandidate, empty))
    expect(many['candidates']).toHaveLength(24)
    expect(JSON.stringify(many)).toContain(best.id)
    const bounded = memoryOf([best, ...long].reduce(withCandidate, empty))
    expect(Buffer.byteLength(JSON.stringify(bounded))).toBeLessThanOrEqual(200 * 1024)
    expect(JSON.stringify(bounded)).toContain(best.id)
  })

  it('forgets tasks before it outgrows its bound', () => {
    const archive = Array.from({ length: 400 }, (_, index) => `${index}-${'n'.repeat(1000)}`).reduce(
      (all, task) => withScore(all, task, 0),
      empty,
    )
    expect(Buffer.byteLength(JSON.stringify(memoryOf(archive)))).toBeLessThanOrEqual(200 * 1024)
  })

  it('keeps the last three scores of a task', () => {
    const archive = [0, 1, 0.5, 1].reduce((all, score) => withScore(all, 'a', score), empty)
    expect(archive.tasks).toEqual([{ task: 'a', recent: [1, 0.5, 1] }])
  })
})

describe('what became of a candidate', () => {
  const archive = withCandidate(empty, candidateOf('units', { outcome: 'unknown' }))
  const { mutations } = candidateOf('units')

  it('is read off what was turned down', () => {
    const [found] = opened(archive, { rejected: [{ step: 3, mutations, reason: 'no better' }] }).candidates
    expect(found?.outcome).toBe('rejected')
  })

  it('is read off the tree, which now holds it', () => {
    const text = 'Mind the gap.'
    const update = { op: 'update', id: 'gap', options: { config: { text } } } as const
    const past = withCandidate(empty, candidateOf('gap', { id: editId([update]), mutations: [update], outcome: 'unknown' }))
    const [found] = opened(past, { entries: [{ id: 'gap', name: 'rules', config: { text } }] }).candidates
    expect(found?.outcome).toBe('published')
  })

  it('does not matter once the tree cannot take it', () => {
    const entries = [{ id: 'units', name: 'rules', config: { text: 'Something else.' } }]
    expect(opened(archive, { entries }).candidates).toEqual([])
  })

  it('is forgotten on another tree when it was never offered and brought nothing', () => {
    const past = [candidateOf('idle', { scores: [] }), candidateOf('useful')].reduce(withCandidate, empty)
    const entries = [{ id: 'new', name: 'rules', config: { text: 'A new tree.' } }]
    expect(opened(past, { entries }).candidates.map(({ mutations: [first] }) => first?.id)).toEqual(['useful'])
  })
})
