/** Composes the thread of a trainer: what main is to the service. */
import { builtins } from '../plugins/index.ts'
import { loadPlugin } from './config/index.ts'
import { serveTrainer } from './training/index.ts'

serveTrainer(({ name, baseDirectory }) => loadPlugin('recipe', name, builtins, baseDirectory))
