/** Every file and folder that the configuration names: data of the deployment, which no episode may see. */
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config, RecipeSettings } from './schema.ts'

export interface ConfigPlace {
  /** The configuration file; null without one. */
  readonly file: string | null
  /** The base of its relative paths. */
  readonly base: string
}

/** No list of keys: a text that is written as a path counts as one, whichever key it has. */
export function ownPaths(config: Config, { file, base }: ConfigPlace): readonly string[] {
  const { recipes, ...others } = config
  const named = [...textsIn(others), ...Object.values(recipes).flatMap((recipe) => textsIn(dataIn(recipe)))]
  const paths = named.flatMap((text) => pathOf(text, base))
  return [...new Set([base, ...besideFile(file), ...closedIn(base), ...paths])]
}

/** Without what an agent may see: its program, its tree, and the tasks but for what only their evaluators read. */
function dataIn({ evolution: { binary: _program, seed: _tree, tasks, ...evolution }, ...sections }: RecipeSettings): unknown {
  return [sections, evolution, (tasks ?? []).map((task) => (typeof task === 'string' ? null : (task['data'] ?? null)))]
}

export function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

const isWrittenAsPath = (text: string): boolean => isAbsolute(text) || /^\.\.?(?:[/\\]|$)/.test(text)

/** The part behind `#` names an export of a module. */
function pathOf(text: string, base: string): readonly string[] {
  if (/^file:\/\/\//i.test(text)) return [fileURLToPath(text)]
  return isWrittenAsPath(text) ? [...new Set([text, text.split('#', 1)[0] ?? text])].map((path) => resolve(base, path)) : []
}

/** The file itself, and where it really lies: its folder may also hold programs of the system, and is not hidden then. */
function besideFile(file: string | null): readonly string[] {
  if (file === null) return []
  const path = resolve(file)
  const real = existsSync(path) ? realpathSync(path) : path
  return [path, dirname(path), ...closedIn(dirname(path)), real, dirname(real), ...closedIn(dirname(real))]
}

/** `.env` and its like. */
function closedIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.startsWith('.'))
    return names.map((name) => join(folder, name))
  } catch {
    return []
  }
}
