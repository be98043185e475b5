/** A service that trains the tiny model: an in-process engine, a trainer process, and a task with rewarded answers. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/contract/index.ts'
import type { Settings } from '../../support/settings.ts'
import { until } from '../../support/wait.ts'
import { world, type World } from '../../support/world.ts'
import { withLlama } from './llama.ts'
import { tinyModel } from './tiny-model.ts'
import { startTrainer, type TrainerProcess } from './trainer-process.ts'

export interface TrainingWorld {
  readonly world: World
  readonly trainer: TrainerProcess
  close(): Promise<void>
}

/** Training settings for tests: large steps for a small model. */
export const QUICKLY: Settings = {
  recipe: 'weights',
  'training.objective': 'grouped',
  'training.group_size': 16,
  'training.lora_rank': 4,
  'training.learning_rate': 0.003,
  'training.base_model': 'tiny',
}

export interface TrainingWorldOptions {
  /** Options of `make:tiny-model` for another model. */
  readonly model?: readonly string[]
  readonly device?: 'cpu' | 'cuda'
  /** Recipes by name, each with its own settings; the first is the default. */
  readonly recipes?: Readonly<Record<string, Settings>>
}

export async function openTrainingWorld(settings: Settings = {}, options: TrainingWorldOptions = {}): Promise<TrainingWorld> {
  const { device = 'cpu', recipes = {} } = options
  withLlama()
  const model = await tinyModel(...(options.model ?? []))
  const state = await mkdtemp(join(tmpdir(), 'svc-trainer-'))
  const trainer = await startTrainer({ state, models: { tiny: model }, device })
  const opened = await world({
    backend: 'sqlite',
    settings: {
      'inference.runtime': 'llama',
      'inference.engine.model': join(model, 'model.gguf'),
      ...taught({ 'training.trainer_url': trainer.url, ...QUICKLY }, recipes),
      ...settings,
    },
  })
  return {
    world: opened,
    trainer,
    async close() {
      await opened.close()
      await trainer.stop()
      await rm(state, { recursive: true, force: true })
    },
  }
}

function taught(usual: Settings, recipes: Readonly<Record<string, Settings>>): Settings {
  const [first] = Object.keys(recipes)
  if (first === undefined) return usual
  const own = Object.entries(recipes).flatMap(([name, settings]) =>
    Object.entries({ ...usual, ...settings }).map(([key, value]) => [`recipes.${name}.${key === 'recipe' ? 'use' : key}`, value] as const),
  )
  return { recipe: first, ...Object.fromEntries(own) }
}

export interface Said {
  readonly receipt: string
  readonly text: string
}

export async function say(at: World, scenario: string, prompt: string, more: JsonObject = {}): Promise<Said> {
  const body = { model: 'tiny', messages: [{ role: 'user', content: prompt }], max_tokens: 12, temperature: 1, ...more }
  const answer = await at.post('/v1/chat/completions', body, { 'x-svc-scenario': scenario })
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  const [choice] = JSON.parse(answer.text).choices
  return { receipt: String(answer.headers['x-svc-agent-record-id']), text: String(choice.message.content).trim() }
}

/** Requests and scores one group of answers to the same question; returns the scores. */
export async function playGroup(
  at: World,
  scenario: string,
  group: string,
  question: {
    readonly prompt: string
    readonly seeds: readonly number[]
    readonly score: (texts: readonly string[], index: number) => number
  },
): Promise<number> {
  const { prompt, seeds, score } = question
  const said = await Promise.all(seeds.map((seed) => say(at, scenario, prompt, { seed })))
  const texts = said.map(({ text }) => text)
  for (const [index, { receipt }] of said.entries()) {
    const report = { score: score(texts, index), references: [receipt], metadata: { comparison_set: group } }
    const answer = await at.post('/svc/report', report, { 'x-svc-scenario': scenario })
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  }
  return texts.filter((_, index) => score(texts, index) > 0).length / texts.length
}

async function commitsOf(at: World, scenario: string): Promise<readonly JsonObject[]> {
  const { commits } = JSON.parse((await at.get(`/svc/scenarios/${scenario}/commits`)).text)
  return commits
}

/** Waits for the row of that step. */
export async function rowAt(at: World, scenario: string, step: number): Promise<JsonObject> {
  let row: JsonObject | undefined
  await until(async () => {
    row = (await commitsOf(at, scenario)).find((commit) => commit['step'] === step)
    return row !== undefined
  })
  return row ?? {}
}
