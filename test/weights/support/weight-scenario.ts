/** One weights scenario on a scripted engine, without HTTP or a trainer, with rows and contents in memory. */
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import memoryContents from '../../../plugins/contents/memory/index.ts'
import memoryStore from '../../../plugins/stores/memory/index.ts'
import {
  ADAPTER_CONFIG_FILE,
  type ContentStore,
  type JsonObject,
  type NewRecord,
  type Recipe,
  type Runtime,
  type StepResult,
} from '../../../src/contract/index.ts'
import { parsedBody, serve, type Call } from '../../../src/inference/index.ts'
import { newId } from '../../../src/kit/index.ts'
import { Registry, ScenarioFiles, type Services, type Scenario } from '../../../src/scenarios/index.ts'
import { processorOf } from '../../../src/training/index.ts'
import { makeWeightRuntime } from '../../../src/weights/index.ts'
import { makeFence } from '../../../src/weights/serving/fence.ts'
import { adapterFolder, ScriptedEngine } from '../../../src/weights/serving/testing.ts'
import { emptyExchange, hostsOf, nothing, ROOM, servicesInMemory } from '../../support/services.ts'
import { until } from '../../support/wait.ts'

export interface WeightScenario {
  readonly engine: ScriptedEngine
  readonly contents: ContentStore
  readonly runtime: Runtime
  readonly registry: Registry
  readonly scenario: Scenario
  /** Publishes an adapter that adds `shift`; resolves after its row, and after the rollback row if there is one. */
  learn(shift: number, as?: 'publish' | 'live'): Promise<void>
  /** The same, up to the engine's load. */
  begin(shift: number): Promise<void>
  /** Sends one request; returns the weights that its record names. */
  ask(): Promise<Kept>
  /** The same for another scenario without weights. */
  askBeside(fields: JsonObject): Promise<void>
  /** The folder of a head that exists only in the engine. */
  liveFolder(): string
  /** Restarts the service on the same rows and engine. */
  reopen(): Promise<WeightScenario>
}
export interface Kept {
  readonly release: string | null
  readonly load: string
}

const PUPIL = 'pupil'
const DRAIN_SECONDS = 0.01
const QUESTION = { messages: [{ role: 'user', content: 'say something' }] }

export async function openWeightScenario(folder: string, capacity: number): Promise<WeightScenario> {
  const kept = { store: await memoryStore.plugin.make({}), contents: await memoryContents.plugin.make({}) }
  return opened(new ScriptedEngine({ capacity }), kept, folder)
}

async function opened(engine: ScriptedEngine, kept: Pick<Services, 'store' | 'contents'>, folder: string): Promise<WeightScenario> {
  const lessons: StepResult[] = []
  const runtime = makeWeightRuntime(engine, { name: 'scripted', modelName: 'scripted', drainSeconds: DRAIN_SECONDS })
  const train = (): StepResult => lessons.shift() ?? { kind: 'skip', reason: 'nothing to learn' }
  const hosts = hostsOf({ inTurn: (_trainer, _signal, work) => work(() => Promise.resolve(train())), close: nothing })
  const services = await servicesInMemory({ weights: RECIPE }, { ...kept, files: new ScenarioFiles(folder), runtime, hosts })
  const registry = await Registry.open(services, ROOM)
  const { scenario } = await registry.create(PUPIL, { release: null, recipe: null }, () => null)
  let live = ''
  const own = new ScenarioFiles(folder).folderOf(scenario.created)
  const teach = async ({ kind, shift }: { readonly kind: 'publish' | 'live'; readonly shift: number }): Promise<void> => {
    await mkdir(own, { recursive: true })
    const directory = await adapterFolder(own, shift)
    await writeFile(join(directory, ADAPTER_CONFIG_FILE), '{}')
    live = basename(directory)
    lessons.push(kind === 'live' ? { kind, path: live } : { kind, content: { kind: 'checkpoint', path: directory } })
    await scenario.append([emptyExchange(newId())])
  }
  return {
    engine,
    contents: kept.contents,
    runtime,
    registry,
    scenario,
    async learn(shift, kind = 'publish') {
      const trained = (): number => scenario.history.lastTrained?.step ?? 0
      const before = trained()
      await teach({ kind, shift })
      await until(() => trained() > before)
      await scenario.lane.run(nothing)
    },
    async begin(shift) {
      const before = engine.calls.length
      await teach({ kind: 'publish', shift })
      await until(() => engine.calls.length > before)
    },
    ask: () => ask(scenario),
    askBeside: async (fields) => void (await serve({ ...servingOf(scenario), surface: {} }, callOf({ ...QUESTION, ...fields }))),
    liveFolder: () => join(own, live),
    reopen: async () => {
      await registry.close()
      return opened(engine, kept, folder)
    },
  }
}

/** Like the built-in one, but without examining a candidate, as when the engine is full. */
const RECIPE: Recipe = {
  bind: ({ runtime, scenario }) => {
    const { weights } = runtime
    if (weights === undefined) throw new Error('this runtime serves no weights')
    return Promise.resolve({
      runtime,
      surface: {
        hooks: makeFence(weights, scenario),
        weights: {
          admit: nothing,
          serve: (served, switched) => weights.serve(scenario, served, switched),
          status: () => ({
            runtime_load_id: weights.served(scenario)?.runtime_load_id ?? null,
            trainer: null,
            adapter_runtime_load_id: null,
            admission: weights.admission(scenario),
          }),
        },
      },
      processors: { '': processorOf({ data: { batch_policy: 'records' } }, { name: 'weights' }) },
      close: nothing,
    })
  },
  trainers: () => ({ '': { lane: 'weights', open: () => ({ step: () => Promise.reject(new Error('not part of this test')) }) } }),
}

async function ask(scenario: Scenario): Promise<Kept> {
  const records: NewRecord[] = []
  const serving = { ...servingOf(scenario), keep: (record: NewRecord) => Promise.resolve(records.push(record)) }
  await serve(serving, callOf(QUESTION))
  const [record] = records
  const { response } = JSON.parse(Buffer.from(record?.payload ?? []).toString())
  return { release: record?.artifact_ref ?? null, load: String(response.training.runtime_load_id) }
}

const servingOf = (scenario: Scenario) => ({
  surface: scenario.surface,
  runtime: scenario.runtime,
  model: scenario.model,
  head: () => scenario.head(),
  hasRelease: () => false,
})

/** A chat with these fields. */
export function callOf(fields: JsonObject, more: Partial<Call> = {}): Call {
  return {
    id: newId(),
    dialect: 'chat',
    path: '/v1/chat/completions',
    headers: {},
    request: parsedBody(Buffer.from(JSON.stringify(fields)), fields, {}),
    tags: {},
    signal: new AbortController().signal,
    retryTimeoutSeconds: 60,
    answerBytesMax: 1e9,
    clock: () => 1,
    begunAt: 1,
    ...more,
  }
}
