/** Releases of several components: one folder each, of which a step changes its own and leaves the others as they are. */
import { conflict, unavailable, type Files, type Release, type TrainerPlan } from '../contract/index.ts'
import type { ConfiguredRecipe, Services } from './services.ts'
import { reach } from './reach.ts'

/** What a release is made of, before it is one. */
export type Contents = Pick<Release, 'content_id' | 'components'>

/** What a recipe would train, by component. One that cannot say keeps its own scenarios from being loaded, and nobody else's. */
export function plansOf({ recipe, config }: Pick<ConfiguredRecipe, 'recipe' | 'config'>): readonly (readonly [string, TrainerPlan])[] {
  try {
    return Object.entries(recipe.trainers?.(config) ?? {})
  } catch (cause) {
    throw unavailable('recipe_failed', 'the recipe failed to name its trainers; the log of the service says why', { cause })
  }
}

/** The names of a recipe's components; empty for a recipe of a single content. */
export function componentsOf(configured: ConfiguredRecipe): readonly string[] {
  const names = plansOf(configured).map(([name]) => name)
  if (names.length === 1 && names[0] === '') return []
  if (names.includes(''))
    throw unavailable('recipe_broken', "the recipe names one of its several trainers ''; each needs the name of its folder")
  return names
}

export async function writeSeed({ contents }: Services, names: readonly string[], seed: Files): Promise<Contents> {
  if (names.length === 0) return { content_id: await reach(contents.write({ kind: 'files', files: seed })) }
  return writeParts(contents, names, seed)
}

/** A release that somebody else published fits only when it has these very components. */
export async function adopt({ contents }: Services, names: readonly string[], release: Release): Promise<Release> {
  if (names.length === 0) return release
  const parts = await writeParts(contents, names, await reach(contents.read(release.content_id)))
  if (parts.content_id === release.content_id) return { ...release, ...parts }
  throw conflict('other_base', `release_id: that release does not consist of ${names.join(', ')}, which this recipe trains`)
}

/** The content of one component, together with what the others are at that release. */
export async function composeWith({ contents }: Services, release: Release, component: string, content_id: string): Promise<Contents> {
  if (release.components === undefined) return { content_id }
  return compose(contents, { ...release.components, [component]: content_id })
}

/** A held release changed one component: that one goes onto what is served now. */
export async function composeOnto({ contents }: Services, head: Release, held: Release, component: string): Promise<Contents> {
  const part = contentOf(held, component)
  if (part === null || head.components === undefined) return held
  return compose(contents, { ...head.components, [component]: part })
}

/** The content id of a component; null where the release has none of that name. */
export function contentOf({ components = {} }: Release, component: string): string | null {
  return Object.hasOwn(components, component) ? (components[component] ?? null) : null
}

async function writeParts(contents: Services['contents'], names: readonly string[], files: Files): Promise<Contents> {
  const parts: Record<string, string> = {}
  for (const name of names) parts[name] = await reach(contents.write({ kind: 'files', files: within(files, `${name}/`) }))
  return compose(contents, parts)
}

function within(files: Files, folder: string): Files {
  const inside = Object.entries(files).filter(([path]) => path.startsWith(folder))
  return Object.fromEntries(inside.map(([path, text]) => [path.slice(folder.length), text]))
}

async function compose(contents: Services['contents'], components: Readonly<Record<string, string>>): Promise<Contents> {
  return { content_id: await reach(contents.write({ kind: 'composed', components })), components }
}
