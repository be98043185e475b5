/** Every key that is in force, with where its value came from. */
import { allKeys, ANY_NAME } from './keys.ts'
import type { Given, Origin } from './problem.ts'
import { RECIPE_SECTIONS, type Config } from './schema.ts'

/** In the schema's order; keys of named recipes once per recipe that was given, top-level ones when the default recipe has no name entry. */
export function originsOf(config: Config, given: ReadonlyMap<string, Given>): ReadonlyMap<string, Origin> {
  const named = Object.keys(config.recipes).filter((name) =>
    [...given.values()].some(({ path }) => path[0] === 'recipes' && path[1] === name),
  )
  const keys = allKeys().flatMap(({ key }) => {
    if (key.includes(ANY_NAME)) return named.map((name) => key.replace(ANY_NAME, name))
    return named.includes(config.recipe) && isRecipeSection(key) ? [] : [key]
  })
  return new Map(keys.map((key) => [key, given.get(key)?.origin ?? 'default']))
}

/** The value in force for a key of the map above. */
export function valueOf(config: Config, key: string): unknown {
  const path = isRecipeSection(key) ? ['recipes', config.recipe, ...key.split('.')] : key.split('.')
  return path.reduce<unknown>((node, name) => (isRecord(node) ? node[name] : null), config) ?? null
}

const isRecipeSection = (key: string): boolean => RECIPE_SECTIONS.has(key.split('.', 1)[0] ?? '')

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null
