/** The scenarios of the ordeal, and how the service under test is set up for them: one goes by evidence, one publishes whatever runs. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { POWERS } from '../../../src/contract/index.ts'
import { ROMAN_RULE, ROMAN_TASKS, romanPrompt } from '../../support/romans.ts'
import { settingsOf, type Settings } from '../../support/settings.ts'
import { placeIn, type Place } from '../child.ts'

/** The folders of one run: the service's data, the inboxes and step records of its scenarios, and its temporary files. */
export interface Scene extends Place {
  readonly proposals: string
  readonly steps: string
  readonly temporary: string
}

export function sceneIn(directory: string): Scene {
  const below = (name: string): string => join(directory, name)
  const scene = { ...placeIn(directory), proposals: below('proposals'), steps: below('steps'), temporary: below('temporary') }
  for (const folder of [scene.proposals, scene.steps, scene.temporary]) mkdirSync(folder)
  return scene
}

/** Recipes and scenarios have the same names. */
export const NAMES = ['careful', 'eager'] as const
export type Name = (typeof NAMES)[number]

/** Its check runs on a copy of what the agent left, in a sandbox of its own. */
const SOUND = { name: 'sound', prompt: romanPrompt('3'), role: 'health', evaluator: 'verify', verify: 'true' }

/** Enough to screen changes on. */
const TRAIN = ROMAN_TASKS.slice(8, 12).map((task) => ({ ...task, role: 'train' }))

/** Small enough that a step is over within seconds, lenient enough that some are published. */
const OWN: Readonly<Record<Name, Settings>> = {
  careful: {
    tasks: JSON.stringify([...ROMAN_TASKS.slice(0, 8), ...TRAIN, SOUND]),
    alpha: 0.5,
    margin: 0.5,
    candidates: 2,
    max_episodes_per_step: 20,
  },
  eager: { tasks: JSON.stringify([...ROMAN_TASKS.slice(0, 1), SOUND]), selection: 'always' },
}

/** No executor is named: a sandbox where there can be one. */
export function castSettings(scene: Scene): Settings {
  const recipes = NAMES.map((name) => {
    const evolution = {
      seed: JSON.stringify([ROMAN_RULE]),
      proposals_dir: scene.proposals,
      step_record_dir: scene.steps,
      max_pending_proposals: 4,
      publish_powers: JSON.stringify(POWERS),
      ...OWN[name],
    }
    return {
      [`recipes.${name}.use`]: 'harness',
      [`recipes.${name}.data.training_mode`]: 'hybrid',
      ...Object.fromEntries(Object.entries(evolution).map(([key, value]) => [`recipes.${name}.evolution.${key}`, value])),
    }
  })
  // Nothing listens at the provider's address: the built-in mock model answers.
  return Object.assign({ ...settingsOf(scene, 'http://127.0.0.1:1'), recipe: 'careful', 'inference.runtime': 'practice' }, ...recipes)
}
