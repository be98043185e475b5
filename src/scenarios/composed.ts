/** Releases of several components: one folder each. A step changes its own component and leaves the others. */
import { conflict, unavailable, type Files, type Release, type TrainerPlan } from '../contract/index.ts'
import { reach, type ConfiguredRecipe, type Services } from './services.ts'

/** The content of a release that is not sealed yet. */
export type ReleaseContent = Pick<Release, 'content_id' | 'components'>

/** A recipe's trainers by component. A recipe that throws keeps only its own scenarios from loading. */
export function plansOf({ recipe, config }: Pick<ConfiguredRecipe, 'recipe' | 'config'>): readonly (readonly [string, TrainerPlan])[] {
  try {
    return Object.entries(recipe.trainers?.(config) ?? {})
  } catch (cause) {
    throw unavailable('recipe_failed', 'the recipe failed to name its trainers; the log of the service says why', { cause })
  }
}

/** The names of a recipe's components; empty for a recipe without components. */
export function componentsOf(configured: ConfiguredRecipe): readonly string[] {
  const names = plansOf(configured).map(([name]) => name)
  if (names.length === 1 && names[0] === '') return []
  if (names.includes(''))
    throw unavailable('recipe_broken', "the recipe names one of its several trainers ''; each needs the name of its folder")
  return names
}

export async function writeSeed({ contents }: Services, names: readonly string[], seed: Files): Promise<ReleaseContent> {
  if (names.length === 0) return { content_id: await reach(contents.write({ kind: 'files', files: seed })) }
  return writeParts(contents, names, seed)
}

/** A release from elsewhere is accepted only with exactly these components. */
export async function adopt({ contents }: Services, names: readonly string[], release: Release): Promise<Release> {
  if (names.length === 0) return release
  const parts = await writeParts(contents, names, await reach(contents.read(release.content_id)))
  if (parts.content_id === release.content_id) return { ...release, ...parts }
  throw conflict('other_base', `release_id: that release does not consist of ${names.join(', ')}, which this recipe trains`)
}

/** Replaces one component of a release. */
export async function composeWith(
  { contents }: Services,
  release: Release,
  component: string,
  content_id: string,
): Promise<ReleaseContent> {
  if (release.components === undefined) return { content_id }
  return compose(contents, { ...release.components, [component]: content_id })
}

/** Applies the component that a held release changed to the current head. */
export async function composeOnto({ contents }: Services, head: Release, held: Release, component: string): Promise<ReleaseContent> {
  const part = contentOf(held, component)
  if (part === null || head.components === undefined) return held
  return compose(contents, { ...head.components, [component]: part })
}

/** The content id of a component; null where the release has no such component. */
export function contentOf({ components = {} }: Release, component: string): string | null {
  return Object.hasOwn(components, component) ? (components[component] ?? null) : null
}

async function writeParts(contents: Services['contents'], names: readonly string[], files: Files): Promise<ReleaseContent> {
  const parts: Record<string, string> = {}
  for (const name of names) parts[name] = await reach(contents.write({ kind: 'files', files: within(files, `${name}/`) }))
  return compose(contents, parts)
}

function within(files: Files, folder: string): Files {
  const inside = Object.entries(files).filter(([path]) => path.startsWith(folder))
  return Object.fromEntries(inside.map(([path, text]) => [path.slice(folder.length), text]))
}

async function compose(contents: Services['contents'], components: Readonly<Record<string, string>>): Promise<ReleaseContent> {
  return { content_id: await reach(contents.write({ kind: 'composed', components })), components }
}
