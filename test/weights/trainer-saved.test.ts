/** What the trainer keeps: found after kill -9, gone on from, never half written. */
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { readAdapter } from '../../src/weights/formats/peft.ts'
import { unpackTar } from '../../src/weights/formats/tar.ts'
import { fillDisk, mountDisk, temporaryFolder } from '../support/folder.ts'
import { callerOf, savedDigest, sharedTrainer, towards, type Caller } from './support/trainer-calls.ts'
import { startTrainer, type TrainerProcess } from './support/trainer-process.ts'

const here = sharedTrainer()
const { state, caller } = here

/** Another trainer, on a state folder of its own. */
async function ownTrainer(
  folder: string,
  models: Readonly<Record<string, string>> = { tiny: here.model },
): Promise<TrainerProcess & Caller> {
  const trainer = await startTrainer({ state: folder, models })
  return { ...trainer, ...callerOf(() => trainer.url) }
}

describe('saved weights', () => {
  it('outlive kill -9, which models do not; going on from them equals never having stopped', async () => {
    const folder = temporaryFolder()
    const first = await ownTrainer(folder)
    const run = await first.model({ rank: 4, seed: 5 })
    await run.step(towards('blue'))
    const { path } = await run.done('save_weights', { path: 'middle' })
    await run.step(towards('green'))
    await run.done('save_weights_for_sampler', { path: 'end' })
    await first.post('save_weights', { model_id: run.id, path: 'late', seq_id: 100 })
    await first.kill9()
    mkdirSync(join(folder, 'partial', 'half-written'))

    const again = await ownTrainer(folder)
    expect(await again.post('get_info', { model_id: run.id })).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining('load a saved state') },
    })
    expect(readdirSync(join(folder, 'partial'))).toEqual([])
    // What was being saved is there whole or not at all.
    const states = readdirSync(join(folder, 'checkpoints', run.id, 'weights'))
    for (const name of states)
      expect(readdirSync(join(folder, 'checkpoints', run.id, 'weights', name))).toEqual(['state.json', 'state.safetensors'])
    expect(states).toContain('middle')
    expect(await again.post('weights_info', { tinker_path: path ?? '' })).toMatchObject({
      body: { base_model: 'tiny', is_lora: true, lora_rank: 4 },
    })
    const branch = await again.model({ rank: 4, seed: 99 })
    expect(await branch.done('load_weights', { path: path ?? '', optimizer: true })).toEqual({ path, type: 'load_weights' })
    expect(await branch.step(towards('green'))).toMatchObject({ metrics: { optimizer_steps: 2 } })
    await branch.done('save_weights_for_sampler', { path: 'end' })
    expect(savedDigest(folder, branch.id, 'end')).toBe(savedDigest(folder, run.id, 'end'))
    await again.stop()
  })

  it('are a folder that the service reads, whole, as an archive', async () => {
    const run = await caller.model({ rank: 3, alpha: 6, train_mlp: false })
    await run.step(towards('red'))
    await run.done('save_weights_for_sampler', { path: 'step-1.a' })
    const url = `${here.url}/api/v1/training_runs/${run.id}/checkpoints/${encodeURIComponent('sampler_weights/step-1.a')}/archive`
    const archive = await fetch(url)
    expect(archive.headers.get('content-type')).toBe('application/x-tar')
    const folder = temporaryFolder()
    const bytes = Buffer.from(await archive.arrayBuffer())
    expect(bytes).toHaveLength(Number(archive.headers.get('content-length')))
    await unpackTar(Readable.from([bytes]), folder, { bytesMax: 1_000_000, filesMax: 10 })
    const adapter = await readAdapter(folder)
    expect(adapter).toMatchObject({ rank: 3, scale: 2, baseModel: 'tiny' })
    expect(adapter.pairs.every(({ module }) => module.includes('self_attn'))).toBe(true)
  })

  it('are listed, and gone once deleted', async () => {
    const run = await caller.model()
    expect((await caller.get(`training_runs/${run.id}/checkpoints`)).body).toEqual({ checkpoints: [] })
    await run.done('save_weights', { path: 'one' })
    await run.done('save_weights_for_sampler', { path: 'one' })
    const listed = await caller.get(`training_runs/${run.id}/checkpoints`)
    const rows = ['weights/one', 'sampler_weights/one'].map((id) =>
      expect.objectContaining({
        checkpoint_id: id,
        tinker_path: `tinker://${run.id}/${id}`,
        size_bytes: expect.any(Number),
        time: expect.stringMatching(/Z$/),
      }),
    )
    expect(listed.body['checkpoints']).toEqual(expect.arrayContaining(rows))
    expect(await caller.delete(`training_runs/${run.id}/checkpoints/weights/one`)).toMatchObject({ status: 200 })
    expect(await caller.delete(`training_runs/${run.id}/checkpoints/weights/one`)).toMatchObject({ status: 404 })
    expect(await caller.post('weights_info', { tinker_path: `tinker://${run.id}/weights/one` })).toMatchObject({ status: 404 })
    expect((await caller.get('training_runs/unknown/checkpoints')).status).toBe(404)
  })

  it('are never written over, and never go on under another base or rank', async () => {
    const run = await caller.model({ rank: 4 })
    const { path } = await run.done('save_weights', { path: 'one' })
    expect(await run.failed('save_weights', { path: 'one' })).toMatchObject({ category: 'user' })
    const other = await caller.model({ rank: 5 })
    const load = { model_id: other.id, path: path ?? '', seq_id: 900 }
    expect(await caller.post('load_weights', load)).toMatchObject({ status: 400, body: { detail: expect.stringContaining('rank 4') } })
    expect(await caller.post('load_weights', { ...load, path: 'tinker://unknown/weights/x' })).toMatchObject({ status: 404 })
    expect(await caller.post('load_weights', { ...load, path: 'tinker://../weights/x' })).toMatchObject({ status: 400 })
  })

  it('of another base, even one of the same name, are refused', async () => {
    const run = await caller.model({ rank: 4 })
    const { path } = await run.done('save_weights', { path: 'one' })
    const folder = temporaryFolder()
    for (const name of ['config.json', 'model.safetensors']) copyFileSync(join(here.model, name), join(folder, name))
    const weights = readFileSync(join(folder, 'model.safetensors'))
    weights.writeFloatLE(1, weights.length - 4)
    writeFileSync(join(folder, 'model.safetensors'), weights)
    const shared = temporaryFolder()
    const saved = join('checkpoints', run.id, 'weights', 'one')
    cpSync(join(state, saved), join(shared, saved), { recursive: true })
    const there = await ownTrainer(shared, { tiny: folder, other: folder })
    const same = await there.model({ rank: 4 })
    expect(await same.failed('load_weights', { path: path ?? '' })).toMatchObject({
      category: 'user',
      error: expect.stringContaining('other weights'),
    })
    const other = await there.model({ rank: 4 }, 'other')
    const refused = await there.post('load_weights', { model_id: other.id, path: path ?? '', seq_id: 1 })
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining('another base model') } })
    await there.stop()
  })

  it('are whole or not there when the disk is full, and can be saved once it is not', async () => {
    const disk = mountDisk('size=1m')
    const small = await ownTrainer(disk)
    const run = await small.model({ rank: 16 })
    const free = fillDisk(disk)
    expect(await run.failed('save_weights', { path: 'one' })).toEqual({
      category: 'server',
      error: 'saving or reading failed: the disk is full',
    })
    expect(existsSync(join(disk, 'checkpoints', run.id, 'weights', 'one'))).toBe(false)
    expect(readdirSync(join(disk, 'partial'))).toEqual([])
    free()
    expect(await run.done('save_weights', { path: 'one' })).toMatchObject({ type: 'save_weights' })
    await small.stop()
  })
})
