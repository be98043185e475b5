/** What the parts of the recipe suite share: a scenario to bind, its first release, and a folder of its own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unknown, upstream } from '../src/contract/index.ts'
import type {
  Binding,
  Files,
  JsonObject,
  Recipe,
  Release,
  Runtime,
  ScenarioScope,
  TrainerPlan,
  TrainingMode,
} from '../src/contract/index.ts'
import type { Runner } from './support.ts'

export interface RecipeSuite extends Runner {
  readonly recipe: Recipe
  /** The recipe's own sections of the configuration. Absent: none is set. */
  readonly config?: JsonObject
}

export const TRAINING_MODES: readonly TrainingMode[] = ['auto', 'manual', 'hybrid']

interface Bound {
  readonly binding: Binding
  readonly directory: string
}

/** Each test has a binding of its own, which is closed after it. */
export function over(suite: RecipeSuite): (name: string, body: (bound: Bound) => Promise<void>) => void {
  return (name, body) =>
    suite.it(name, () =>
      withDirectory(async (directory) => {
        const binding = await suite.recipe.bind(scopeOf(suite, directory))
        try {
          await body({ binding, directory })
        } finally {
          await binding.close()
        }
      }),
    )
}

/** Not made yet: a recipe makes its folder when it needs one. */
export async function withDirectory(body: (directory: string) => Promise<void>): Promise<void> {
  const parent = await mkdtemp(join(tmpdir(), 'recipe-'))
  try {
    await body(join(parent, 'scenario'))
  } finally {
    await rm(parent, { recursive: true, force: true })
  }
}

export function scopeOf(suite: RecipeSuite, directory: string): ScenarioScope {
  return {
    scenario: 'conformance',
    config: suite.config ?? {},
    runtime: silent,
    evaluation: { url: 'http://127.0.0.1:1/evaluation', model: 'm', api: 'openai', apiKey: 'evaluation-token' },
    directory,
    read: async (contentId) => contentsOf(suite)[contentId] ?? refuse(contentId),
  }
}

export function plansOf({ recipe, config = {} }: RecipeSuite): Readonly<Record<string, TrainerPlan>> {
  return recipe.trainers?.(structuredClone(config)) ?? {}
}

/** The release a new scenario of this recipe begins with. */
export function seedRelease(suite: RecipeSuite): Release {
  const components = Object.fromEntries(componentsOf(suite).map((name) => [name, `content-${name}`]))
  const release = { release_id: 'release-1', parent_release_id: null, content_id: WHOLE }
  return Object.keys(components).length === 0 ? release : { ...release, components }
}

const WHOLE = 'content'

/** The folders its releases consist of; none for a single trainer that is named as nothing. */
export function componentsOf(suite: RecipeSuite): readonly string[] {
  return Object.keys(plansOf(suite)).filter((name) => name !== '')
}

function contentsOf(suite: RecipeSuite): Readonly<Record<string, Files>> {
  const seed = suite.recipe.seed ?? {}
  const within = (name: string): Files => {
    const inside = Object.entries(seed).filter(([path]) => path.startsWith(`${name}/`))
    return Object.fromEntries(inside.map(([path, text]) => [path.slice(name.length + 1), text]))
  }
  return { [WHOLE]: seed, ...Object.fromEntries(componentsOf(suite).map((name) => [`content-${name}`, within(name)])) }
}

function refuse(contentId: string): never {
  throw unknown('unknown_content', `${JSON.stringify(contentId)} is no content of the release that was handed over`)
}

/** A deployment whose model never answers: a recipe must be able to be bound before it does. */
const silent: Runtime = {
  infer: () => Promise.reject(noAnswer()),
  models: () => Promise.reject(noAnswer()),
  status: async () => ({ runtime: 'silent' }),
  close: async () => undefined,
}

const noAnswer = (): Error => upstream('no_answer', 'nobody answers in this suite')
