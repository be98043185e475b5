/** What has to be set up for a release, over small histories. */
import { describe, expect, it } from 'vitest'
import { commit } from '../../conformance/store-samples.ts'
import { keptChain } from '../../test/support/chain.ts'
import type { Commit } from '../contract/index.ts'
import { pulledRelease, releaseWithoutRequires } from './index.ts'

interface Step {
  readonly id: string
  readonly parent?: string
  readonly asks?: string
  readonly copies?: string
  readonly tree?: string
  readonly weights?: string
}

/** A step without a tree of its own is of a scenario of one content. */
function history(...steps: readonly Step[]): readonly Commit[] {
  return steps.map(({ id, parent, asks, copies, tree, weights = 'w0' }, step) => ({
    ...commit(step),
    release: {
      release_id: id,
      parent_release_id: parent ?? null,
      content_id: `content of ${id}`,
      ...(tree !== undefined && { components: { tree, weights } }),
    },
    metrics: asks === undefined ? {} : { training_request: { requires: [{ name: asks, kind: 'service' }] } },
    ...(copies !== undefined && { operation: 'promote', rollback_target_release_id: copies }),
  }))
}

const namesOf = async (commits: readonly Commit[], component?: string): Promise<readonly string[]> => {
  const { requires } = await pulledRelease((await keptChain(commits, component)).releases, null)
  return requires.map(({ name }) => name)
}

const withoutRequires = async (commits: readonly Commit[], id: string, component?: string): Promise<string | null> =>
  releaseWithoutRequires((await keptChain(commits, component)).releases, id, component)

describe('what a release requires', () => {
  it('is what its chain asked for, and not what a release that it went back behind did', async () => {
    const chain = [{ id: 'a' }, { id: 'b', parent: 'a', asks: 'mail' }, { id: 'c', parent: 'b', asks: 'calendar' }]
    expect(await namesOf(history(...chain))).toEqual(['mail', 'calendar'])
    const back = history(...chain, { id: 'd', parent: 'c', copies: 'b' })
    expect(await namesOf(back)).toEqual(['mail'])
    expect(await withoutRequires(back, 'd')).toBe('a')
  })

  it('stays what it was when another component is promoted that was made before the tree asked for it', async () => {
    const commits = history(
      { id: 'a', tree: 't0' },
      { id: 'weights', parent: 'a', tree: 't0', weights: 'w1' },
      { id: 'b', parent: 'a', tree: 't1', asks: 'mail' },
      { id: 'c', parent: 'b', copies: 'weights', tree: 't1', weights: 'w1' },
    )
    expect(await namesOf(commits, 'tree')).toEqual(['mail'])
    expect(await withoutRequires(commits, 'c', 'tree')).toBe('a')
  })

  it('is found also where rows lead in a circle', async () => {
    expect(await namesOf(history({ id: 'a', parent: 'b', asks: 'mail' }, { id: 'b', parent: 'a', copies: 'a' }))).toEqual(['mail'])
  })
})
