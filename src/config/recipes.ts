/** Loads a recipe by its configured name and makes it from its settings where needed. */
import { isRefusal, type JsonObject, type Kind, type Kinds, type Recipe } from '../contract/index.ts'
import { loadPlugin, type Builtins } from './plugins.ts'
import { ConfigProblem } from './problem.ts'

export interface RecipeAddress {
  readonly name: string
  readonly baseDirectory: string
  /** The recipe's name in the configuration; absent: the plug-in's. */
  readonly label?: string
}

export async function loadRecipe(
  { name, baseDirectory, label = name }: RecipeAddress,
  config: JsonObject,
  builtins: Builtins,
  warn: (message: string) => void = () => undefined,
): Promise<Recipe> {
  const plugin = await loadPlugin('recipe', name, builtins, baseDirectory)
  if (!('make' in plugin)) return plugin
  try {
    const plugins = <K extends Kind>(kind: K, part: string): Promise<Kinds[K]> => loadPlugin(kind, part, builtins, baseDirectory)
    return await plugin.make(config, { plugin: plugins, baseDirectory, warn })
  } catch (error) {
    throw isRefusal(error) ? new ConfigProblem([`recipe ${label}: ${error.message}`]) : error
  }
}
