/** A held release that a person rejects: what lands, in every process, what comes back, and what the trainer is told. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Deployment, holding, publish } from '../../test/support/deployment.ts'
import type { Commit } from '../contract/index.ts'
import { catalogRows } from './catalog.ts'

let here: Deployment
beforeEach(async () => {
  here = await Deployment.open()
})
afterEach(async () => {
  await here.close()
  expect(here.warnings).toEqual([])
})

const idOf = ({ release }: Commit): string => release?.release_id ?? ''
const rejectedBy = (member: number, row: Commit, reason: string) =>
  here.members[member]?.move('a', idOf(row), 'reject', { words: reason, by: null })

describe('a rejection', () => {
  it('is a row that names the release and the reason, and moves nothing, in any process and after a restart', async () => {
    const head = here.first.head()
    const held = await here.step(holding('risky'))
    expect(await rejectedBy(1, held, 'It deletes files.')).toEqual({ head, step: 2 })
    await here.settled()
    expect(await here.first.wholeRow(2)).toMatchObject({
      operation: 'reject',
      outcome: 'rejected',
      pending: false,
      release: held.release,
      rollback_target_release_id: idOf(held),
      metrics: { reason: 'It deletes files.' },
    })
    await here.close()
    await here.start()
    expect(here.first.head()).toEqual(head)
    const rows = await catalogRows(here.first, await here.first.everyRow())
    expect(rows.map(({ current, restorable }) => [current, restorable])).toEqual([
      [true, true],
      [false, false],
      [false, false],
    ])
    await expect(here.members[0]?.move('a', idOf(held), 'promote')).rejects.toMatchObject({ code: 'not_held' })
    await expect(here.members[0]?.move('a', idOf(held), 'rollback')).rejects.toMatchObject({ code: 'not_restorable' })
  })

  it('of two people at once lands once; the second is told that it is decided', async () => {
    const held = await here.step(holding('risky'))
    const ends = await Promise.allSettled([rejectedBy(0, held, 'one'), rejectedBy(1, held, 'two')])
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { kind: 'conflict', code: 'not_held' } })
    await here.settled()
    expect(here.first.history.step).toBe(2)
  })

  it('and a promote at once: one of them is decided, the other refused', async () => {
    const held = await here.step(holding('risky'))
    const ends = await Promise.allSettled([rejectedBy(0, held, 'no'), here.members[1]?.move('a', idOf(held), 'promote')])
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await here.settled()
    expect(here.first.history.step).toBe(2)
    expect(here.first.head().content_id === held.release?.content_id).toBe(ends[1]?.status === 'fulfilled')
  })

  it('with the same words again is answered as it is: an answer may be lost', async () => {
    const held = await here.step(holding('risky'))
    const head = here.first.head()
    for (let times = 0; times < 2; times += 1) expect(await rejectedBy(times, held, 'no')).toEqual({ head, step: 2 })
    await here.settled()
    expect(here.first.history.step).toBe(2)
  })
})

describe('what was rejected', () => {
  it('does not come back by itself, held or published, also once other content was served', async () => {
    const held = await here.step(holding('risky'))
    await rejectedBy(0, held, 'no')
    const skipped = { outcome: 'skipped', release: null, metrics: { skipped: 'a person rejected this content at step 2' } }
    expect(await here.step(holding('risky'))).toMatchObject(skipped)
    await here.step(publish('other'))
    expect(await here.step(publish('risky'))).toMatchObject(skipped)
    expect(await here.step(holding('less risky'))).toMatchObject({ outcome: 'pending' })
  })

  it('is told to the trainer with every step, with the reason and what its row had', async () => {
    const held = await here.step({ ...holding('risky'), metrics: { mutation: { op: 'remove', id: 'x' } } })
    await rejectedBy(1, held, 'It deletes files.')
    await here.step(holding('second'))
    await here.step(holding('third'))
    expect(here.orders.map(({ rejections }) => rejections)).toEqual([
      undefined,
      ...[1, 2].map(() => [
        { step: 1, rejected_at: 2, reason: 'It deletes files.', metrics: expect.objectContaining({ mutation: { op: 'remove', id: 'x' } }) },
      ]),
    ])
  })
})
