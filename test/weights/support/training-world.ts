/** A service that trains the tiny model: an in-process engine, a trainer process, and a task with rewarded answers. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/contract/index.ts'
import { trainee } from '../../spec/support/trainee.ts'
import type { Settings } from '../../support/settings.ts'
import { world, type World } from '../../support/world.ts'
import { withLlama } from './llama.ts'
import { tinyModel } from './tiny-model.ts'
import { startTrainer, type TrainerOptions } from './trainer-process.ts'

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

export interface TrainingWorld {
  readonly world: World
  readonly trainer: { readonly url: string; stop(): Promise<void> }
  close(): Promise<void>
}

export const openTrainingWorld = (settings: Settings = {}, options: TrainingWorldOptions = {}) =>
  openTrainingWorldWith(startTrainer, settings, options)

/** With a trainer that is started in another way. */
export async function openTrainingWorldWith<T extends TrainingWorld['trainer']>(
  start: (options: TrainerOptions) => Promise<T>,
  settings: Settings,
  options: TrainingWorldOptions = {},
) {
  const { device = 'cpu', recipes = {} } = options
  withLlama()
  const model = await tinyModel(...(options.model ?? []))
  const state = await mkdtemp(join(tmpdir(), 'svc-trainer-'))
  const trainer = await start({ state, models: { tiny: model }, device })
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
    /** The folder of the base model. */
    model,
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

/** The question of all weight tests. */
export const PROMPT = 'Pick a colour.'

/** A chat with the tiny model, whatever the answer. */
export function chat(at: World, scenario: string, more: JsonObject = {}) {
  const body = { model: 'tiny', messages: [{ role: 'user', content: PROMPT }], max_tokens: 12, ...more }
  return at.post('/v1/chat/completions', body, { 'x-svc-scenario': scenario })
}

export async function say(at: World, scenario: string, more: JsonObject = {}) {
  const answer = await chat(at, scenario, { temperature: 1, ...more })
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  const [choice] = JSON.parse(answer.text).choices
  return { receipt: String(answer.headers['x-svc-agent-record-id']), text: String(choice.message.content).trim() }
}

export const seedsFrom = (first: number, count: number): readonly number[] => Array.from({ length: count }, (_, index) => first + index)

export interface Question {
  readonly seeds: readonly number[]
  readonly score: (texts: readonly string[], index: number) => number
}

/** Requests and scores one group of answers; returns the share of those with a score. */
export async function playGroup(at: World, scenario: string, group: string, { seeds, score }: Question): Promise<number> {
  const said = await Promise.all(seeds.map((seed) => say(at, scenario, { seed })))
  const texts = said.map(({ text }) => text)
  for (const [index, { receipt }] of said.entries()) {
    const report = { score: score(texts, index), references: [receipt], metadata: { comparison_set: group } }
    const answer = await trainee(at, scenario).report(report)
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  }
  return texts.filter((_, index) => score(texts, index) > 0).length / texts.length
}

/** Waits for the row of that step. */
export const rowAt = (at: World, scenario: string, step: number): Promise<JsonObject> => trainee(at, scenario).row(step)
