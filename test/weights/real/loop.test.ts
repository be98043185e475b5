/** The whole loop over an engine that runs as a process of its own: the real one where `npm run test:engines` installed it. */
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readEngineSettings } from '../../../plugins/runtimes/common/settings.ts'
import { isRefusal, type JsonObject } from '../../../src/contract/index.ts'
import { placeIn, startChild } from '../../crash/child.ts'
import { landed, report, say } from '../../crash/weights/client.ts'
import { checkLimits } from '../../../src/weights/serving/base-check.ts'
import { expectRefusal, textAt } from '../../spec/support/helpers.ts'
import { memberOf } from '../../spec/support/trainee.ts'
import { until } from '../../support/wait.ts'
import { KINDS, NEVER } from '../engines/kinds.ts'
import { withLlama } from '../support/llama.ts'
import { pupil, sharedTraining, trainersLogProbs, trainerStateOf, type Pupil, type Spoken } from '../support/pupil.ts'
import { tinyModel } from '../support/tiny-model.ts'
import { startRestartableTrainer } from '../support/trainer-proxy.ts'
import { openTrainingWorldWith, QUICKLY, seedsFrom } from '../support/training-world.ts'
import type { RealEngine } from './install.ts'
import { ADAPTERS_MAX, MODEL, OTHER_MODEL, RANK_MAX, startEngine, type EngineProcess } from './servers.ts'

const GROUP = 8
/** Of one adapter: memory that nobody wrote shows in some of them alone. */
const LOADS = 24
/** Each of the two services has half of the engine. */
const CAPACITY = ADAPTERS_MAX / 2
/** Nats for each token. The test servers keep weights in half precision. */
const NOISE = { real: 1e-4, own: 0.005 }
/** A real engine takes minutes to start on a busy machine. */
const STARTING_MS_MAX = 900_000

/** The Python of each that serves on this machine. `npm run test:machine` knows none, and takes one of the test servers. */
const real: Readonly<Partial<Record<RealEngine, string>>> | null = JSON.parse(process.env['REAL_ENGINES'] ?? 'null')
const names: readonly RealEngine[] = real === null ? ['vllm'] : ['vllm', 'sglang']
const ENGINES = names.flatMap((name) => {
  const python = real?.[name]
  const own = { name, title: `the test server of ${name}`, python: null }
  return python === undefined ? [own] : [own, { name, title: `real ${name}`, python }]
})

describe.each(ENGINES)('the loop on $title', { timeout: STARTING_MS_MAX }, ({ name, python }) => {
  let engine: EngineProcess
  const noise = python === null ? NOISE.own : NOISE.real
  const engineSettings = () => ({
    'inference.runtime': name,
    'inference.engine.url': engine.url,
    'inference.engine.model': 'tiny',
    'inference.engine.capacity': CAPACITY,
    'training.group_size': GROUP,
  })
  const { training, world } = sharedTraining(async () => {
    withLlama()
    engine = await startEngine(name, python, await tinyModel(...MODEL))
    return openTrainingWorldWith(startRestartableTrainer, engineSettings(), { model: MODEL })
  }, STARTING_MS_MAX)
  afterAll(() => engine.kill())
  const s = pupil(world, 'pupil')

  /** Every token's log-probability, as it was recorded, against the trainer's for the weights that the record names. */
  async function expectTrainersWords(said: readonly Spoken[]): Promise<void> {
    for (const release of new Set(said.map((one) => one.release))) {
      const own = said.filter((one) => one.release === release)
      const trainers = await trainersLogProbs(training, own, trainerStateOf(world, release))
      for (const [index, { logProbs }] of own.entries()) {
        expect(trainers[index]).toHaveLength(logProbs.length)
        for (const [at, value] of logProbs.entries()) expect(Math.abs(value - (trainers[index]?.[at] ?? Number.NaN))).toBeLessThan(noise)
      }
    }
  }
  const releaseAt = async (step: number) => textAt((await s.releases()).find((row) => row['step'] === step) ?? {}, 'release_id')

  it('takes traffic and reports, trains, loads and serves; every token is as likely as the trainer says', async () => {
    await expectTrainersWords(await spoken(s))
    for (const round of [1, 2]) expect(await learn(s, round)).toMatchObject({ optimizer_steps: 1, selected: true })
    const said = await spoken(s)
    expect(new Set(said.map(({ loadId }) => loadId.split(':')[1]))).toEqual(new Set(['2']))
    await expectTrainersWords(said)
  })

  it('answers every request during updates and a rollback, each by the weights that its record names', async () => {
    const over = new AbortController()
    const said: Spoken[] = []
    const asking = [1, 2].map(async (client) => {
      for (let seed = client * 100_000; !over.signal.aborted; seed += 1) said.push(...(await s.spoken([seed])))
    })
    const work = async (): Promise<void> => {
      await learn(s, 3)
      for (const step of [1, 3]) expect((await s.move('rollback', await releaseAt(step))).status).toBe(200)
    }
    await work().finally(() => over.abort())
    await Promise.all(asking)
    expect(new Set(said.map(({ release }) => release)).size).toBeGreaterThan(1)
    await expectTrainersWords(said)
    await expectTrainersWords(await spoken(s))
  })

  it('refuses a rank that the engine was not started for before anything is sent to the trainer', async () => {
    await world.restart({ 'training.lora_rank': RANK_MAX * 4 })
    const wide = pupil(world, 'wide')
    const before = training.trainer.calls.length
    await wide.teach(1, GROUP)
    const row = await wide.row(1)
    expect(textAt(memberOf(row, 'metrics'), 'error')).toMatch(new RegExp(`rank ${RANK_MAX} at most.*lora_rank is ${RANK_MAX * 4}`))
    expect(training.trainer.calls.slice(before).filter((call) => /create_model|forward/.test(call))).toEqual([])
    await world.restart({ 'training.lora_rank': 4 })
    expect((await wide.remove()).status).toBe(200)
  })

  it('is still the base, and still its adapter, once other adapters fill every slot', async () => {
    const other = new KINDS[name].Engine(readEngineSettings(name, { url: engine.url, model: 'tiny', capacity: ADAPTERS_MAX }))
    const loaded: string[] = []
    for (let at = 0; at < ADAPTERS_MAX + 1; at += 1) {
      const filler = { name: `filler.${at}`, directory: adapterIn(world.directory) }
      const refused = await other.load(filler, NEVER).then(
        () => null,
        (error: unknown) => (isRefusal(error) ? error.code : String(error)),
      )
      if (refused === null) loaded.push(filler.name)
      else expect(refused).toBe('engine_full')
    }
    expect(loaded.length).toBeGreaterThan(0)
    for (const filler of loaded)
      await other.generate({ prompt: [1, 5, 6], adapter: filler, sampling: { maxTokens: 2, temperature: 0 }, signal: NEVER })
    const base = pupil(world, 'untrained')
    await expectTrainersWords(await spoken(base))
    await expectTrainersWords(await spoken(s))
    for (const filler of loaded) await other.unload(filler, NEVER)
    await other.close()
    expect((await base.remove()).status).toBe(200)
  })

  it('gives the same numbers for the same adapter, however often it is loaded', async () => {
    const loader = new KINDS[name].Engine(readEngineSettings(name, { url: engine.url, model: 'tiny', capacity: ADAPTERS_MAX }))
    const directory = adapterIn(world.directory)
    const seen: (readonly number[])[] = []
    for (let load = 0; load < LOADS; load += 1) {
      const again = `again.${load}`
      await loader.load({ name: again, directory }, NEVER)
      seen.push(await loader.score([1, 5, 6, 7, 8, 9, 10], again, NEVER))
      await loader.unload(again, NEVER)
    }
    for (const scores of seen) for (const [at, score] of scores.entries()) expect(score).toBeCloseTo(seen[0]?.[at] ?? Number.NaN, 5)
    await loader.close()
  })

  // SGLang maps the file of an adapter, and reads it again when the adapter comes back into a slot: bytes that are written into it become answers.
  it.skipIf(python === null)('keeps the numbers of an adapter whose folder is removed, also when others took its slots', async () => {
    const loader = new KINDS[name].Engine(readEngineSettings(name, { url: engine.url, model: 'tiny', capacity: ADAPTERS_MAX }))
    const folder = mkdtempSync(join(tmpdir(), 'svc-adapter-'))
    const kept = adapterIn(world.directory)
    cpSync(kept, folder, { recursive: true })
    const scores = async (adapter: string) => loader.score([1, 5, 6, 7, 8, 9, 10], adapter, NEVER)
    await loader.load({ name: 'gone', directory: folder }, NEVER)
    rmSync(folder, { recursive: true })
    const first = await scores('gone')
    await loader.load({ name: 'other', directory: kept }, NEVER)
    for (const [at, score] of (await scores('other')).entries()) expect(score).toBeCloseTo(first[at] ?? Number.NaN, 5)
    await spoken(s)
    for (const [at, score] of (await scores('gone')).entries()) expect(score).toBeCloseTo(first[at] ?? Number.NaN, 5)
    for (const adapter of ['gone', 'other']) await loader.unload(adapter, NEVER)
    await loader.close()
  })

  it('serves a second service beside this one, which is killed within its job and takes one step all the same', async () => {
    const quiet = await spoken(s)
    const folder = mkdtempSync(join(tmpdir(), 'svc-second-'))
    mkdirSync(join(folder, 'data'))
    const place = placeIn(join(folder, 'data'))
    const settings = {
      ...QUICKLY,
      ...engineSettings(),
      'svc.port': 0,
      'storage.agent_record_dir': place.records,
      'storage.artifact_repository': place.repository,
      'training.trainer_url': training.trainer.url,
    }
    const first = startChild(place, { settings })
    const at = { address: (await first.address) ?? '' }
    const receipts: string[] = []
    for (const seed of seedsFrom(50, GROUP)) receipts.push((await say(at, { temperature: 1, seed }))?.receipt ?? '')
    const held = training.trainer.held('forward_backward')
    for (const [index, receipt] of receipts.entries()) await report(at, 1, receipt, index)
    const goOn = await held
    first.kill('family')
    await first.ended
    goOn()
    const second = startChild(place, { settings })
    const again = { address: (await second.address) ?? '' }
    await landed(again, 1)
    expect(await say(again, { temperature: 1, seed: 1 })).not.toBeNull()
    expect(await spoken(s).then((said) => said.map(({ loadId }) => loadId))).toEqual(quiet.map(({ loadId }) => loadId))
    await expectTrainersWords(await spoken(s))
    second.stop()
    await second.ended
    rmSync(folder, { recursive: true, force: true })
  })

  it('waits for a trainer that is killed within a job, and no gradient counts twice', async () => {
    const rows = await s.rows()
    const round = Math.max(...rows.map((row) => Number(row['step']))) + 1
    const held = training.trainer.held('optim_step')
    await s.teach(round, GROUP)
    const goOn = await held
    await training.trainer.kill()
    goOn()
    await training.trainer.start()
    expect(memberOf(await s.row(round), 'metrics')).toMatchObject({ optimizer_steps: 1, selected: true })
    await expectTrainersWords(await spoken(s))
  })

  it('answers nothing while another base, started for fewer layers, stands in its place, and serves what it served once the engine is back', async () => {
    const before = await spoken(s)
    await engine.kill()
    expect([502, 503]).toContain((await s.chat()).status)
    const { port } = engine
    engine = await startEngine(name, python, await tinyModel(...OTHER_MODEL), { port, modules: ['q_proj', 'v_proj'] })
    await until(async () => ![502, 503].includes((await s.chat()).status))
    expectRefusal(await s.chat(), 409, 'base_changed')
    const narrow = new KINDS[name].Engine(readEngineSettings(name, { url: engine.url, model: 'tiny', capacity: CAPACITY }))
    await checkLimits(narrow, { rank: RANK_MAX, modules: ['q_proj', 'v_proj'] }, NEVER)
    await expect(checkLimits(narrow, { rank: RANK_MAX, modules: ['q_proj', 'up_proj'] }, NEVER)).rejects.toMatchObject({
      code: 'engine_limits',
      message: expect.stringContaining('takes no adapters on up_proj'),
    })
    await narrow.close()
    await engine.kill()
    engine = await startEngine(name, python, await tinyModel(...MODEL), { port })
    await until(async () => (await s.chat()).status === 200)
    const after = await spoken(s)
    expect(after.map(({ loadId }) => loadId)).toEqual(before.map(({ loadId }) => loadId))
    await expectTrainersWords(after)
  })
})

/** An adapter that was trained, for whoever wants one. */
function adapterIn(directory: string): string {
  const [found] = globSync(join(directory, '**/adapter_model.safetensors'))
  if (found === undefined) throw new Error('no adapter was trained yet')
  return dirname(found)
}

const spoken = (by: Pupil): Promise<readonly Spoken[]> => by.spoken(seedsFrom(0, 6))

/** The metrics of its step. */
async function learn(by: Pupil, round: number): Promise<JsonObject> {
  await by.teach(round, GROUP)
  return memberOf(await by.row(round), 'metrics')
}
