/** The catalog of the pulled tree over small histories of two components. */
import { describe, expect, it } from 'vitest'
import { commit } from '../../conformance/store-samples.ts'
import type { Commit, Release } from '../contract/index.ts'
import { catalogOf, listedCatalog } from './index.ts'

const release = (id: string, parent: string | null, harness: string, weights: string): Release => ({
  release_id: id,
  parent_release_id: parent,
  content_id: `${harness}+${weights}`,
  components: { harness, weights },
})

const row = (step: number, more: Partial<Commit>): Commit => ({ ...commit(step), ...more })

const created = row(0, { release: release('a', null, 'h0', 'w0') })
const tree = row(1, { release: release('b', 'a', 'h1', 'w0'), component: 'harness' })
const weights = row(2, { release: release('c', 'b', 'h1', 'w1'), component: 'weights' })
const rejected = row(3, { outcome: 'rejected', component: 'harness' })
const later = row(4, { release: release('d', 'c', 'h2', 'w1'), component: 'harness' })
const history = [created, tree, weights, rejected, later]

const listed = (commits: readonly Commit[]) => listedCatalog(commits, 'harness')
const at = (commits: readonly Commit[], step: number) => listed(commits).find((one) => one.step === step)

describe('a listed catalog', () => {
  it('of a single content is the catalog itself', () => {
    expect(listedCatalog(history, undefined)).toEqual(catalogOf(history))
  })

  it('leaves out what other components did, published or not', () => {
    const others = row(5, { outcome: 'failed', component: 'weights' })
    expect(listed([...history, others]).map(({ step }) => step)).toEqual([0, 1, 3, 4])
  })

  it('names the previous listed release as parent, and keeps the one it was published on', () => {
    expect(at(history, 0)).toMatchObject({ release_id: 'a', parent_release_id: null })
    expect(at(history, 0)).not.toHaveProperty('composed_parent_release_id')
    expect(at(history, 1)).toMatchObject({ parent_release_id: 'a', composed_parent_release_id: 'a' })
    expect(at(history, 4)).toMatchObject({ release_id: 'd', parent_release_id: 'b', composed_parent_release_id: 'c' })
    expect(at(history, 4)).not.toHaveProperty('composed_release_id')
  })

  it('names a step without a release by the listed release it ran on', () => {
    expect(at(history, 3)).toMatchObject({ release_id: 'b', composed_release_id: 'c', result: 'rejected' })
  })

  it('lists a rollback to another tree, and names the listed release its target carried', () => {
    const back = row(5, { operation: 'rollback', release: release('e', 'd', 'h1', 'w1'), rollback_target_release_id: 'c' })
    expect(at([...history, back], 5)).toMatchObject({
      release_id: 'e',
      rollback_target_release_id: 'b',
      composed_rollback_target_release_id: 'c',
    })
    const listedTarget = row(5, { operation: 'rollback', release: release('e', 'd', 'h1', 'w0'), rollback_target_release_id: 'b' })
    expect(at([...history, listedTarget], 5)).toMatchObject({ rollback_target_release_id: 'b' })
    expect(at([...history, listedTarget], 5)).not.toHaveProperty('composed_rollback_target_release_id')
  })

  it('leaves out a move that changed another component alone, and what follows it stands on what it carried', () => {
    const back = row(5, { operation: 'rollback', release: release('e', 'd', 'h2', 'w0'), rollback_target_release_id: 'a' })
    const next = row(6, { release: release('f', 'e', 'h3', 'w0'), component: 'harness' })
    const rows = [...history, back, next]
    expect(listed(rows).map(({ step }) => step)).toEqual([0, 1, 3, 4, 6])
    expect(at(rows, 6)).toMatchObject({ parent_release_id: 'd', composed_parent_release_id: 'e' })
  })

  it('lists a held tree, and its promotion as a release of its own', () => {
    const held = row(5, { release: release('held', 'd', 'h3', 'w1'), component: 'harness', pending: true, outcome: 'pending' })
    const trained = row(6, { release: release('f', 'd', 'h2', 'w2'), component: 'weights' })
    const promoted = row(7, { operation: 'promote', release: release('p', 'f', 'h3', 'w2'), rollback_target_release_id: 'held' })
    const rows = [...history, held, trained, promoted]
    expect(at(rows, 5)).toMatchObject({ release_id: 'held', pending: true, parent_release_id: 'd' })
    expect(at(rows, 7)).toMatchObject({
      release_id: 'p',
      parent_release_id: 'd',
      composed_parent_release_id: 'f',
      rollback_target_release_id: 'held',
    })
  })

  it('leaves out the promotion of another component', () => {
    const held = row(5, { release: release('held', 'd', 'h2', 'w2'), component: 'weights', pending: true, outcome: 'pending' })
    const promoted = row(6, { operation: 'promote', release: release('p', 'd', 'h2', 'w2'), rollback_target_release_id: 'held' })
    expect(listed([...history, held, promoted]).map(({ step }) => step)).toEqual([0, 1, 3, 4])
  })

  it('begins with the release a scenario was created from, also one of another scenario', () => {
    const forked = row(0, { release: release('x', 'somewhere else', 'h7', 'w7') })
    expect(listed([forked])).toMatchObject([{ release_id: 'x', parent_release_id: 'somewhere else' }])
  })
})
