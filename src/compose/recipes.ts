/** Loads the configured recipes. */
import { loadRecipe, type Builtins, type LoadedConfig } from '../config/index.ts'
import type { Log } from '../http/index.ts'
import type { ConfiguredRecipe } from '../scenarios/index.ts'

export async function loadRecipes(
  { config, baseDirectory, ownPaths }: LoadedConfig,
  plugins: Builtins,
  log: Log,
): Promise<ReadonlyMap<string, ConfiguredRecipe>> {
  const recipes = new Map<string, ConfiguredRecipe>()
  for (const [name, { use, ...sections }] of Object.entries(config.recipes)) {
    const { data, evolution, training } = sections
    const plugin = { name: use, baseDirectory, ownPaths }
    const warn = (message: string): void => log.write('warn', 'recipe', { recipe: name, message })
    const recipe = await loadRecipe({ ...plugin, label: name }, sections, plugins, warn)
    recipe.unable?.forEach(warn)
    recipes.set(name, {
      recipe,
      plugin,
      config: sections,
      trainingMode: data.training_mode,
      budgets: { maxSteps: evolution.max_steps, maxFailureStreak: evolution.max_failure_streak },
      limits: { timeoutSeconds: training.step_timeout_s, memoryMib: training.memory_mib },
    })
  }
  return recipes
}
