/** In-memory services for tests that open a registry. */
import memoryContents from '../../plugins/contents/memory/index.ts'
import practice from '../../plugins/runtimes/practice/index.ts'
import memoryStore from '../../plugins/stores/memory/index.ts'
import type { NewRecord, Recipe } from '../../src/contract/index.ts'
import { newId } from '../../src/kit/index.ts'
import type { Services } from '../../src/scenarios/index.ts'
import type { TrainerHost } from '../../src/training/index.ts'

export const ROOM = { implicitCreation: true, scenariosMax: 10, loadedMax: 10 }

export const nothing = (): Promise<void> => Promise.resolve()

const nowhere: TrainerHost = { inTurn: () => Promise.reject(new Error('no trainer runs in this test')), close: nothing }

/** Every trainer runs on this host, whatever its lane. */
export const hostsOf = (host: TrainerHost): Services['hosts'] => ({
  threads: host,
  weights: { hostFor: () => host, close: nothing },
})

/** The first recipe is the default. */
export async function servicesInMemory(
  recipes: Readonly<Record<string, Recipe>>,
  more: Pick<Services, 'files'> & Partial<Services>,
): Promise<Services> {
  return {
    store: more.store ?? (await memoryStore.plugin.make({})),
    contents: more.contents ?? (await memoryContents.plugin.make({})),
    recorder: more.recorder ?? { admit: (_scenario, records) => records },
    recipes: new Map(Object.entries(recipes).map(([name, recipe]) => [name, { ...CONFIGURED, recipe }])),
    defaultRecipe: Object.keys(recipes)[0] ?? '',
    runtime: more.runtime ?? (await practice.plugin.make({})),
    gateway: null,
    model: { url: '', model: 'm', api: 'openai', apiKey: null },
    clock: () => 1,
    newId,
    evaluation: () => ({ url: '', model: null, api: 'openai', apiKey: null }),
    hosts: hostsOf(nowhere),
    stepped: () => undefined,
    warn: () => undefined,
    ...more,
  }
}

const CONFIGURED = {
  plugin: { name: 'plain', baseDirectory: '' },
  config: {},
  trainingMode: 'auto',
  budgets: { maxSteps: 0, maxFailureStreak: 0 },
  limits: { timeoutSeconds: 60, memoryMib: 64 },
} as const

export const emptyExchange = (id: string): NewRecord => ({
  agent_record_id: id,
  request_type: 'inference',
  created_at: 1,
  references: [],
  artifact_ref: null,
  score: null,
  payload: Buffer.from('{}'),
})
