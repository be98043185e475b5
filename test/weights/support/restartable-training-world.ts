/** A training world whose trainer can be killed and restarted on the same state, behind a fixed address. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Settings } from '../../support/settings.ts'
import { world, type World } from '../../support/world.ts'
import { withLlama } from './llama.ts'
import { playGroup, QUICKLY } from './training-world.ts'
import { seedsFrom } from './spoken.ts'
import { tinyModel } from './tiny-model.ts'
import { openTrainerProxy, type TrainerProxy } from './trainer-proxy.ts'
import { startTrainer } from './trainer-process.ts'

export interface RestartableTrainingWorld {
  readonly world: World
  readonly door: TrainerProxy
  /** The folder of the base model. */
  readonly model: string
  /** SIGKILL. */
  killTrainer(): Promise<void>
  startTrainer(): Promise<void>
  close(): Promise<void>
}

export const PROMPT = 'Pick a colour.'
export const GROUP = 4

export async function openRestartableTrainingWorld(settings: Settings = {}): Promise<RestartableTrainingWorld> {
  withLlama()
  const model = await tinyModel()
  const state = await mkdtemp(join(tmpdir(), 'svc-trainer-'))
  const door = await openTrainerProxy()
  const start = async () => {
    const started = await startTrainer({ state, models: { tiny: model } })
    door.lead(started.url)
    return started
  }
  let trainer = await start()
  const opened = await world({
    backend: 'sqlite',
    settings: {
      'inference.runtime': 'llama',
      'inference.engine.model': join(model, 'model.gguf'),
      'training.trainer_url': door.url,
      ...QUICKLY,
      'training.group_size': GROUP,
      ...settings,
    },
  })
  return {
    world: opened,
    door,
    model,
    killTrainer: () => trainer.kill9(),
    async startTrainer() {
      trainer = await start()
    },
    async close() {
      await opened.close()
      await trainer.kill9()
      await door.close()
      await rm(state, { recursive: true, force: true })
    },
  }
}

/** One group of reports with different scores: a batch of one step. */
export function teach(at: World, scenario: string, group: number): Promise<number> {
  return playGroup(at, scenario, String(group), {
    prompt: PROMPT,
    seeds: seedsFrom(group * 1000, GROUP),
    score: (texts, index) => (texts[index] === 'blue' ? 1 : 0) + index / 100,
  })
}
