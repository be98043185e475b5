/** Publications between checkpoints live in the engine and in the scenario's own folder: they serve, outlive a restart, and cannot be rolled back to. */
import { globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectRefusal, textAt } from '../spec/support/helpers.ts'
import { gateIn, memberOf } from '../spec/support/trainee.ts'
import { pupil, sharedTraining } from './support/pupil.ts'
import { openTrainingWorld } from './support/training-world.ts'

const GROUP = 6
const COMMIT = /^[0-9a-f]{40}$/
const EXAMINER = join(import.meta.dirname, 'support', 'gated-examiner.ts')

const { world } = sharedTraining(() =>
  openTrainingWorld({ 'training.checkpoint_every': 3, 'training.group_size': GROUP, 'training.learning_rate': 0.01 }),
)
const s = pupil(world, 'live')

/** The chain's life, as the load ids name it. */
const incarnation = async (): Promise<string> => textAt(await s.status(), 'current_runtime_load_id').split(':')[0] ?? ''

async function learn(step: number): Promise<void> {
  await s.teach(step, GROUP)
  await s.row(step)
}

describe('between checkpoints', () => {
  it('a release is named by its load and its step, and serves [release.live-ids] [status.weights]', async () => {
    const base = await s.voice()
    await learn(1)
    const life = await incarnation()
    const head = await s.head()
    expect(head).toMatchObject({ release_id: `live:${life}:1:1`, content_id: `weights:${life}:1`, restorable: false, result: 'published' })
    expect(await s.status()).toMatchObject({ current_runtime_load_id: `${life}:1`, adapter_runtime_load_id: `${life}:1` })
    const [answer] = await s.spoken([7])
    expect(answer).toMatchObject({ release: head['release_id'], loadId: `${life}:1` })
    expect(await s.voice()).not.toEqual(base)
  })

  it('each is on the one before it, and the last of the three is a commit [release.live-ids]', async () => {
    await learn(2)
    await learn(3)
    const life = await incarnation()
    const [third, second, first, created] = await s.releases()
    expect(second).toMatchObject({ release_id: `live:${life}:2:2`, content_id: `weights:${life}:2`, parent_release_id: `live:${life}:1:1` })
    expect(first).toMatchObject({ parent_release_id: created?.['release_id'] })
    expect(third).toMatchObject({
      release_id: expect.stringMatching(COMMIT),
      content_id: expect.stringMatching(COMMIT),
      parent_release_id: second?.['release_id'],
      restorable: true,
      current: true,
    })
    expect(await s.status()).toMatchObject({ current_runtime_load_id: `${life}:3` })
  })

  it('cannot be rolled back to: 409, and nothing changes [release.live-ids]', async () => {
    const head = await s.head()
    const refused = await s.move('rollback', `live:${await incarnation()}:1:1`)
    expectRefusal(refused, 409, 'not_restorable')
    expect(await s.head()).toEqual(head)
  })
})

describe('after a restart', () => {
  it('the same live weights are served from the folder of the scenario, under the same load [release.live-ids]', async () => {
    await learn(4)
    const [head, voice, { current_runtime_load_id: load }] = [await s.head(), await s.voice(), await s.status()]
    expect(head['release_id']).toMatch(/^live:/)
    await world.restart()
    expect(await s.voice()).toEqual(voice)
    expect(await s.head()).toEqual(head)
    expect(await s.status()).toMatchObject({ current_runtime_load_id: load })
  })

  it('whose folder is gone, the last checkpoint is served, a row says why, and training goes on from there [release.live-ids]', async () => {
    const [live, checkpoint] = await s.releases()
    const step = Number(live?.['step'])
    await s.move('rollback', textAt(checkpoint ?? {}, 'release_id'))
    const voice = await s.voice()
    await learn(step + 2)
    expect((await s.head())['release_id']).toMatch(/^live:/)
    for (const folder of globSync(join(world.directory, 'records', 'scenarios', '*', 'weights', 'exports')))
      rmSync(folder, { recursive: true })
    await world.restart()
    expect(await s.voice()).toEqual(voice)
    const head = await s.head()
    expect(head).toMatchObject({
      operation: 'rollback',
      restorable: true,
      content_id: checkpoint?.['content_id'],
      metrics: { error: expect.stringContaining('no longer exists') },
    })
    await learn(step + 4)
    expect((await s.release())['result']).toBe('published')
  })
})

describe('the status', () => {
  it('names the job that is out and whose it is, and the scenario cannot be deleted meanwhile [status.weights] [delete.rule-3]', async () => {
    const gate = gateIn(world)
    await world.restart({ 'training.examiner': EXAMINER, 'training.examiner_config.gate': gate.path })
    const { step } = await s.release()
    await s.teach(100, GROUP)
    await gate.reached()
    const { training_job: job } = (await world.get('/svc/status')).json
    expect(job).toEqual({ status: 'CHECKPOINT', training_job_id: expect.stringMatching(/^[0-9a-f]{64}$/), owner: s.name })
    expectRefusal(await s.remove(), 409, 'job_out')
    await gate.open()
    const row = await s.row(Number(step) + 1)
    expect(memberOf(row, 'metrics')['training_job_id']).toBe(memberOf({ job }, 'job')['training_job_id'])
    expect((await world.get('/svc/status')).json['training_job']).toBeNull()
  })

  it('shows which adapters the engine holds for whom [status.weights]', async () => {
    const load = textAt(await s.status(), 'current_runtime_load_id')
    const { adapters } = memberOf((await world.get('/svc/status')).json, 'serving')
    const own = memberOf(memberOf(adapters, 'scenarios'), s.name)
    expect(own).toMatchObject({ current: { runtime_load_id: load, adapter: expect.any(String) }, resident: expect.arrayContaining([load]) })
    expect(adapters).toMatchObject({ capacity: 4, leaked: 0, in_flight: 0, counters: { load_failures: 0 } })
  })
})
