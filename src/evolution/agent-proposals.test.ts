/** What agents propose themselves: when it is tried, and what becomes of it. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { episodeOf, metric, proposalFor, REQUEST, RULE, testBench, WORSE } from './testing/bench.ts'

describe('proposals of agents', () => {
  it('come before the proposer, oldest first, and their rows name them', async () => {
    let asked = 0
    const bench = await testBench({ propose: () => ((asked += 1), null) })
    await bench.inbox.offer(proposalFor(RULE), 'head')
    const result = await bench.step()
    expect(result).toMatchObject({ kind: 'publish', metrics: { proposal: { session: 's', release_id: 'r', reason: 'because' } } })
    expect(asked).toBe(0)
    expect(await bench.step()).toMatchObject({ reason: 'no proposal' })
    expect(await readdir(join(bench.folder, 'inbox', 'settled'))).toHaveLength(1)
  })

  it('that came with a token of the role agent are held for review, and those of another role are not', async () => {
    const bench = await testBench()
    await bench.inbox.offer(proposalFor(RULE), 'head', { token: 'laptop', role: 'agent' })
    expect(await bench.step()).toMatchObject({
      kind: 'hold',
      metrics: {
        held_because: 'it was proposed with the token laptop, of the role agent',
        proposal: { asked_by: { token: 'laptop', role: 'agent' } },
      },
    })
    const other = await testBench()
    await other.inbox.offer(proposalFor(RULE), 'head', { token: 'admin', role: 'admin' })
    expect(await other.step()).toMatchObject({ kind: 'publish' })
  })

  it('that the tree refuses by now are refused, and the row still names them', async () => {
    const bench = await testBench()
    await bench.inbox.offer(proposalFor({ op: 'remove', id: 'gone' }), 'head')
    expect(await bench.step()).toMatchObject({ kind: 'skip', metrics: { proposal: { reason: 'because' } } })
    expect(await readdir(join(bench.folder, 'inbox', 'refused'))).toHaveLength(1)
  })

  it('wait while a person asked for something', async () => {
    const bench = await testBench()
    await bench.inbox.offer(proposalFor(WORSE), 'head')
    expect(metric(await bench.step({ request: REQUEST }), 'proposal')).toBeUndefined()
  })

  it('go back to the inbox when their step wrote no row', async () => {
    let broken = true
    const bench = await testBench({
      run: async () => (broken ? Promise.reject(new Error('never')) : episodeOf('magic')),
      selection: {
        decide: () => {
          if (broken) throw new Error('the step dies here')
          return { selected: true, reason: 'fine' }
        },
      },
    })
    await bench.inbox.offer(proposalFor(RULE), 'head')
    const failed = await bench.step()
    expect(failed).toMatchObject({ kind: 'fail', error: 'the step dies here' })
    expect(metric(failed, 'proposal')).toBeUndefined()
    broken = false
    expect(await bench.step()).toMatchObject({ kind: 'publish', metrics: { proposal: { reason: 'because' } } })
  })
})
