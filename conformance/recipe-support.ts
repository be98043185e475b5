/** Shared by the recipe suites: a scenario to bind, its first release, and a folder. */
import { join } from 'node:path'
import { unknown, upstream } from '../src/contract/index.ts'
import type { Binding, Files, JsonObject, Recipe, Release, Runtime, ScenarioScope, TrainerPlan } from '../src/contract/index.ts'
import { withFolder, type Runner } from './support.ts'

export interface RecipeSuite extends Runner {
  readonly recipe: Recipe
  /** The recipe's sections of the configuration. */
  readonly config?: JsonObject
}

interface Bound {
  readonly binding: Binding
  readonly directory: string
}

/** Gives each test a binding and closes it. */
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

/** The folder does not exist yet: a recipe makes it when it needs one. */
export const withDirectory = (body: (directory: string) => Promise<void>): Promise<void> =>
  withFolder((parent) => body(join(parent, 'scenario')))

export function scopeOf(suite: RecipeSuite, directory: string): ScenarioScope {
  return {
    scenario: 'conformance',
    config: suite.config ?? {},
    runtime: silent,
    evaluation: { url: 'http://127.0.0.1:1/evaluation', model: 'm', api: 'openai', apiKey: 'evaluation-token' },
    directory,
    read: async (contentId) => {
      const files = contentsOf(suite)[contentId]
      if (files === undefined) throw unknown('unknown_content', `${JSON.stringify(contentId)} is not a content of the given release`)
      return files
    },
  }
}

export function plansOf({ recipe, config = {} }: RecipeSuite): Readonly<Record<string, TrainerPlan>> {
  return recipe.trainers?.(structuredClone(config)) ?? {}
}

/** The first release of a new scenario. */
export function seedRelease(suite: RecipeSuite): Release {
  const components = Object.fromEntries(componentsOf(suite).map((name) => [name, `content-${name}`]))
  const release = { release_id: 'release-1', parent_release_id: null, content_id: WHOLE }
  return Object.keys(components).length === 0 ? release : { ...release, components }
}

const WHOLE = 'content'

/** The components of its releases; none for a single unnamed trainer. */
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

/** A model that never answers: a recipe must bind without it. */
const silent: Runtime = {
  infer: noAnswer,
  models: noAnswer,
  status: async () => ({ runtime: 'silent' }),
  close: async () => undefined,
}

function noAnswer(): Promise<never> {
  return Promise.reject(upstream('no_answer', 'no model answers in this suite'))
}
