/** Every effective key, with the origin of its value. */
import { allKeys, ANY_NAME } from './keys.ts'
import type { GivenValue, ValueOrigin } from './problem.ts'
import { RECIPE_SECTIONS, type Config } from './schema.ts'

/** In the schema's order. Keys with user-chosen names appear once per given name; top-level recipe keys only when the default recipe has no entry of its own. */
export function originsOf(config: Config, given: ReadonlyMap<string, GivenValue>): ReadonlyMap<string, ValueOrigin> {
  const isNamed = namesUnder('recipes', given).includes(config.recipe)
  const keys = allKeys().flatMap(({ key }) => {
    const [section = '', own] = key.split(`.${ANY_NAME}`)
    if (own !== undefined) return namesUnder(section, given).map((name) => key.replace(ANY_NAME, () => name))
    return isNamed && isRecipeSection(key) ? [] : [key]
  })
  return new Map(keys.map((key) => [key, given.get(key)?.origin ?? 'default']))
}

function namesUnder(section: string, given: ReadonlyMap<string, GivenValue>): readonly string[] {
  const depth = section.split('.').length
  const within = [...given.values()].filter(({ path }) => path.slice(0, depth).join('.') === section)
  return [...new Set(within.flatMap(({ path }) => path[depth] ?? []))]
}

export function valueOf(config: Config, key: string): unknown {
  const path = isRecipeSection(key) ? ['recipes', config.recipe, ...key.split('.')] : key.split('.')
  return memberAt(config, path)
}

/** A name that people choose may hold dots, as `gpt-4.1` does, so the longest that there is counts. */
function memberAt(node: unknown, path: readonly string[]): unknown {
  if (path.length === 0) return node ?? null
  if (!isRecord(node)) return null
  for (let length = path.length; length > 0; length -= 1) {
    const name = path.slice(0, length).join('.')
    if (Object.hasOwn(node, name)) return memberAt(node[name], path.slice(length))
  }
  return null
}

const isRecipeSection = (key: string): boolean => RECIPE_SECTIONS.has(key.split('.', 1)[0] ?? '')

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null
