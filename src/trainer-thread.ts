/** Composes the thread of a trainer: what main is to the service. */
import { builtins } from '../plugins/index.ts'
import { loadRecipe } from './config/index.ts'
import { serveTrainer } from './training/index.ts'

serveTrainer((plugin, config) => loadRecipe(plugin, config, builtins))
