/** Moving the head over a history that training left: back, forward from review, twice at once, over a restart. */
import { execFileSync } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import type { Answer } from '../support/world.ts'
import { PLANTED, plantHistory, type Planted } from './support/planted.ts'
import { named, rowsOf, textAt } from './support/speak.ts'

let planted: Planted
beforeEach(async () => {
  planted = await plantHistory()
})
afterEach(() => planted.close())

const move = (operation: 'rollback' | 'promote', release_id: string): Promise<Answer> =>
  planted.here.post(`/svc/scenarios/${PLANTED}/${operation}`, { release_id })
const releases = async (): Promise<readonly JsonObject[]> =>
  rowsOf(await planted.here.get(`/svc/scenarios/${PLANTED}/releases`), 'releases')
const artifactOfNext = async (): Promise<unknown> => {
  const id = await planted.here.exchange(PLANTED)
  return (await planted.here.get(`/svc/scenarios/${PLANTED}/records/${id}`)).json['artifact_ref']
}

describe('a rollback', () => {
  it('publishes the earlier content once more, as a new release on the head [movement.rollback]', async () => {
    const { created, head } = planted.releases
    const answer = await move('rollback', created.release_id)
    expect(answer).toMatchObject({ status: 200, json: { scenario: PLANTED, content_id: created.content_id, step: 6 } })
    const [newest] = await releases()
    expect(newest).toMatchObject({
      step: 6,
      operation: 'rollback',
      result: 'published',
      current: true,
      restorable: true,
      parent_release_id: head.release_id,
      rollback_target_release_id: created.release_id,
    })
    expect(textAt(answer.json, 'release_id')).not.toBe(created.release_id)
  })

  it('is served at once, and still after a restart, and its pointer names it [movement.rollback]', async () => {
    const moved = textAt((await move('rollback', planted.releases.created.release_id)).json, 'release_id')
    expect(await artifactOfNext()).toBe(moved)
    await planted.here.restart()
    expect(await artifactOfNext()).toBe(moved)
    expect(await releases()).toHaveLength(7)
    const { repository } = planted
    await expect
      .poll(() => execFileSync('git', ['-C', repository, 'for-each-ref', '--format=%(objectname)'], { encoding: 'utf8' }))
      .toContain(moved)
  })

  it('asked for twice at once moves once', async () => {
    const { created } = planted.releases
    const answers = await Promise.all([move('rollback', created.release_id), move('rollback', created.release_id)])
    expect(new Set(answers.map(({ json }) => json['release_id'])).size).toBe(1)
    expect(await releases()).toHaveLength(7)
  })

  it('goes on from where the last one went: steps ascend, history grows', async () => {
    const { created, trained } = planted.releases
    await move('rollback', created.release_id)
    const answer = await move('rollback', trained.release_id)
    expect(answer.json).toMatchObject({ step: 7, content_id: trained.content_id })
    expect((await releases()).map(({ step }) => step)).toEqual([7, 6, 5, 4, 3, 2, 1, 0])
  })

  it('leaves the last training step what it was in the status', async () => {
    await move('rollback', planted.releases.created.release_id)
    const { json } = await planted.here.get('/svc/status')
    expect(json['scenarios']).toMatchObject({ [PLANTED]: { scenario_step: 6, last_committed_step: { step: 5 } } })
  })
})

describe('a promote', () => {
  it('serves what was held, as a release of its own; the held row stays as it was [movement.promote]', async () => {
    const { held } = planted.releases
    const answer = await move('promote', held.release_id)
    expect(answer).toMatchObject({ status: 200, json: { content_id: held.content_id, step: 6 } })
    const rows = await releases()
    expect(rows[0]).toMatchObject({ operation: 'promote', pending: false, current: true, rollback_target_release_id: held.release_id })
    expect(rows.find(({ step }) => step === 3)).toMatchObject({ pending: true, result: 'pending', release_id: held.release_id })
    expect(await artifactOfNext()).toBe(textAt(answer.json, 'release_id'))
  })

  it('leaves what a report may quote untouched', async () => {
    const receipt = await planted.here.exchange(PLANTED)
    await move('promote', planted.releases.held.release_id)
    expect((await planted.here.post('/svc/report', { score: 1, references: [receipt] }, named(PLANTED))).status).toBe(200)
  })
})
