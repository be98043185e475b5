/** Invalid external input: each is refused with its reason, serving continues, and nothing is trained twice. */
import { copyFileSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { expectRefusal, importInference, recordIds, rowsOf, textAt } from '../spec/support/helpers.ts'
import { memberOf } from '../spec/support/trainee.ts'
import type { Settings } from '../support/settings.ts'
import { fillDisk, mountDisk } from '../support/folder.ts'
import { until } from '../support/wait.ts'
import { pupil, sharedTraining } from './support/pupil.ts'
import { startRestartableTrainer } from './support/trainer-proxy.ts'
import { openTrainingWorldWith } from './support/training-world.ts'

const STARTING_MILLISECONDS = 300_000
/** Long enough for a trainer that is away to be noticed on a machine that is busy with other tests. */
const STEP_SECONDS = 6

const GROUP = 4
const open = (settings: Settings = {}) => openTrainingWorldWith(startRestartableTrainer, { 'training.group_size': GROUP, ...settings })
const { training, world } = sharedTraining(open)
const s = pupil(world, 'pupil')
beforeAll(async () => {
  for (const step of [1, 2]) {
    await s.teach(step, GROUP)
    await s.row(step)
  }
}, STARTING_MILLISECONDS)

const metricsOf = (row: JsonObject): JsonObject => memberOf(row, 'metrics')
const errorIn = (row: JsonObject): string => textAt(metricsOf(row), 'error')
/** How often the optimizer stepped on the way to what the row published, by the trainer's own count. */
const stepsIn = (row: JsonObject): number => Number(memberOf(metricsOf(row), 'trainer')['optimizer_steps'])
const releaseAt = async (step: number): Promise<JsonObject> => (await s.releases()).find((row) => row['step'] === step) ?? {}

/** The work is refused or fails; requests during and after it are answered as before. */
async function servingStays(work: () => Promise<void>): Promise<void> {
  const [voice, head] = [await s.voice(), await s.head()]
  await work()
  expect(await s.head()).toEqual(head)
  expect(await s.voice()).toEqual(voice)
}

describe('a request', () => {
  it.each<[string, JsonObject, string]>([
    ['another adapter', { lora_path: 'svc.b3RoZXI.ab12.1' }, 'foreign_lora_path'],
    ['the base in place of the adapter', { lora_path: null }, 'foreign_lora_path'],
    ['no proof', { return_meta_info: false }, 'foreign_return_meta_info'],
    ['a proof of a stream', { return_meta_info: true, stream: true }, 'foreign_return_meta_info'],
  ])(
    'that asks for %s is refused with 400, and nothing is kept of it [decisions.lora-path] [inference.rule-4]',
    async (_what, more, code) => {
      const before = await recordIds(world, s.name)
      expectRefusal(await s.chat(more), 400, code)
      expect(await recordIds(world, s.name)).toEqual(before)
    },
  )
})

describe('an import', () => {
  it.each<[string, (training: JsonObject) => JsonObject, string]>([
    ['tensors of other lengths', ({ rollout_log_probs }) => ({ rollout_log_probs: lacking(rollout_log_probs) }), 'tensor_lengths'],
    [
      'log-probabilities that are not finite',
      ({ rollout_log_probs }) => ({ rollout_log_probs: [null, ...lacking(rollout_log_probs)] }),
      'not_finite',
    ],
    ['ids beyond the vocabulary', ({ tokens }) => ({ tokens: [...lacking(tokens), 100_000] }), 'bad_token'],
    ['loads of another life', () => ({ runtime_load_id: 'other:1', runtime_load_spans: null }), 'cross_incarnation'],
  ])('with %s is dropped for that reason, and does not hold up what comes after it', async (what, change, reason) => {
    const next = Number((await s.rows()).at(-1)?.['step']) + 1
    await servingStays(async () => {
      await importGroup(what, change)
      const row = await s.row(next)
      expect(metricsOf(row)).toMatchObject({
        samples_fresh: 0,
        samples_dropped: GROUP,
        drop_reasons: { [reason]: 1, group_dropped: GROUP - 1 },
      })
    })
    const steps = Math.max(...(await s.rows()).map(stepsIn).filter(Number.isFinite))
    await s.teach(next + 1, GROUP)
    expect(stepsIn(await s.row(next + 1))).toBe(steps + 1)
  })
})

const lacking = (values: unknown): readonly number[] => (Array.isArray(values) ? values.slice(0, -1) : [])

/** A group as another service would bring it: all of it as it was said here, but for the first, which is changed. */
async function importGroup(group: string, change: (fields: JsonObject) => JsonObject): Promise<void> {
  const said = await s.spoken([1, 2, 3, 4])
  for (const [at, { tokens, logProbs, loadId }] of said.entries()) {
    const fields = { tokens, loss_mask: logProbs.map(() => 1), rollout_log_probs: logProbs, runtime_load_id: loadId }
    const id = `${group}-${at}`.replaceAll(' ', '-')
    await importInference(world, s.name, id, { ...fields, ...(at === 0 ? change(fields) : {}) })
    await s.report({ score: at, references: [id], metadata: { comparison_set: group } })
  }
}

describe('an adapter', () => {
  it('whose bytes changed on the disk is not rolled back to, and what is served stays', async () => {
    const release = await releaseAt(1)
    const [file = ''] = globSync(join(world.directory, 'artifacts.git', 'svc-unpacked', textAt(release, 'content_id'), '*.gguf'))
    const bytes = readFileSync(file)
    await servingStays(async () => {
      writeFileSync(file, bytes.with(bytes.length - 40, (bytes.at(-40) ?? 0) ^ 0xff))
      expectRefusal(await s.move('rollback', textAt(release, 'release_id')), 409, 'bad_adapter')
    })
    writeFileSync(file, bytes)
    const newest = await s.head()
    for (const target of [release, newest]) expect((await s.move('rollback', textAt(target, 'release_id'))).status).toBe(200)
  })

  it('of another base is not rolled back to: neither of another name nor of other bytes', async () => {
    const release = textAt(await releaseAt(2), 'release_id')
    const usual = join(training.model, 'model.gguf')
    const other = join(world.directory, 'other.gguf')
    copyFileSync(usual, other)
    writeFileSync(other, ' ', { flag: 'a' })
    for (const settings of [{ 'inference.engine.model': other }, { 'training.base_model': 'another' }]) {
      await world.restart(settings)
      await servingStays(async () => {
        const refused = await s.move('rollback', release)
        expectRefusal(refused, 409, 'bad_adapter')
        expect(refused.text).toContain('another base model')
      })
      await world.restart({ 'inference.engine.model': usual, 'training.base_model': 'tiny' })
    }
  })
})

describe('a base that the trainer does not know', () => {
  it('fails the step with the reason, consumes nothing, and is trained once it is named right', async () => {
    const before = await s.rows()
    await world.restart({ 'training.base_model': 'unknown' })
    await servingStays(async () => {
      await s.teach(200, GROUP)
      await until(async () => (await s.rows()).length > before.length)
    })
    const failed = (await s.rows()).at(-1) ?? {}
    expect(errorIn(failed)).toMatch(/create_model.*base_model is not one of this trainer's/)
    expect(failed['consumed_ids']).toEqual([])
    expect((await s.errors()).join()).toContain('create_model')
    await world.restart({ 'training.base_model': 'tiny' })
    await until(async () =>
      (await s.rows()).some((row) => Number(row['step']) > Number(failed['step']) && metricsOf(row)['selected'] === true),
    )
    expect(stepsIn((await s.rows()).at(-1) ?? {})).toBe(optimizerSteps(before) + 1)
    expect(await s.errors()).toEqual([])
  })
})

/** Of what is served, by the rows that led there. */
const optimizerSteps = (rows: readonly JsonObject[]): number => Math.max(...rows.map(stepsIn).filter(Number.isFinite))

describe('a trainer', () => {
  it('that dies in the middle of a step and comes back gets it again, and the chain is one step longer, not two', async () => {
    const { step } = (await s.rows()).at(-1) ?? {}
    const before = optimizerSteps(await s.rows())
    const saving = training.trainer.held('save_weights')
    await s.teach(300, GROUP)
    const goOn = await saving
    await training.trainer.kill()
    goOn()
    await until(async () => (await s.errors()).some((line) => line.includes('could not be reached')))
    expect((await s.chat({})).status).toBe(200)
    await training.trainer.start()
    const row = await s.row(Number(step) + 1)
    expect(stepsIn(row)).toBe(before + 1)
    expect(await s.errors()).toEqual([])
  })

  it('that gets no further calls of a step forgets its model when the scenario is deleted [delete.rule-5]', async () => {
    await world.restart({ 'training.step_timeout_s': STEP_SECONDS })
    const leaver = pupil(world, 'leaver')
    const stepping = training.trainer.held('optim_step')
    await leaver.teach(1, GROUP)
    const goOn = await stepping
    expectRefusal(await leaver.remove(), 409, 'job_out')
    expect(errorIn(await leaver.row(1))).toContain(`${STEP_SECONDS} s`)
    const before = training.trainer.calls.length
    await until(async () => (await leaver.remove()).status === 200)
    expect(training.trainer.calls.slice(before)).toContain('unload_model')
    goOn()
  })

  it('that does not come back takes nothing from requests, says why it waits, and holds its scenario until the step ends [delete.rule-3] [errors.409-delete] [status.weights]', async () => {
    await training.trainer.kill()
    const { step } = (await s.rows()).at(-1) ?? {}
    await servingStays(async () => {
      await s.teach(400, GROUP)
      await until(async () => (await s.errors()).some((line) => line.includes('could not be reached')))
      expect((await world.get('/svc/status')).json['training_job']).toMatchObject({ owner: s.name })
      expectRefusal(await s.remove(), 409, 'job_out')
      const row = await s.row(Number(step) + 1)
      expect(row['consumed_ids']).toEqual([])
      expect(errorIn(row)).toContain(`${STEP_SECONDS} s`)
    })
    await until(async () => (await s.remove()).status === 200)
    expect(await trainees()).toEqual([])
  })
})

const trainees = async (): Promise<readonly unknown[]> => rowsOf(await world.get('/svc/scenarios'), 'scenarios')

describe('a disk that is full when an adapter comes from the trainer', () => {
  it(
    'fails the step with the cure, keeps what was trained at the trainer, and publishes it when there is room',
    async () => {
      const disk = mountDisk('size=24m')
      const full = await open({ 'storage.agent_record_dir': join(disk, 'records') })
      onTestFinished(() => full.close())
      const learner = pupil(full.world, 'pupil')
      const coming = full.trainer.held('archive')
      await learner.teach(1, GROUP)
      const goOn = await coming
      const free = fillDisk(disk)
      goOn()
      await until(async () => (await learner.errors()).some((line) => /free (some )?space/.test(line)))
      expect(await learner.status()).toMatchObject({ adapter_runtime_load_id: null, scenario_step: 0 })
      free()
      await until(async () => (await learner.rows()).some((row) => stepsIn(row) === 1))
      expect(await learner.errors()).toEqual([])
      expect(full.trainer.calls.filter((call) => call === 'optim_step')).toHaveLength(1)
    },
    STARTING_MILLISECONDS,
  )
})
