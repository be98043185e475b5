/** Doctor's thread: loads the plug-ins and recipes of the configuration one after the other. */
import { parentPort, workerData } from 'node:worker_threads'
import { configuredParts, type ConfiguredPart } from '../main.ts'
import { FINISHED, UNSETTLED, type PartFound, type PartMessage, type PartsOrder } from './doctor-parts.ts'
import { explain, splitMessage } from './explain.ts'

const { loaded, known }: PartsOrder = workerData
const say = (message: PartMessage): void => parentPort?.postMessage(message, [])

process.once('beforeExit', () => process.exit(UNSETTLED))
void examineAll()

async function examineAll(): Promise<void> {
  for (const part of configuredParts(loaded).slice(known)) {
    say({ begun: part.name })
    say({ ended: await examine(part) })
  }
  // A plug-in may keep the event loop busy.
  process.exit(FINISHED)
}

async function examine({ name: part, load }: ConfiguredPart): Promise<PartFound> {
  const warnings: string[] = []
  try {
    const recipe = await load((message) => void warnings.push(message))
    const asksModels = recipe?.adapter !== undefined && recipe.trainers !== undefined
    return { part, problems: (recipe?.unable ?? []).map(splitMessage), warnings, asksModels }
  } catch (error) {
    return { part, problems: explain(error, loaded), warnings, asksModels: false }
  }
}
