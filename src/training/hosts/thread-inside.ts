/** A trainer's thread, inner side: opens the trainer once, then runs one step after another. */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import type { JsonObject, Recipe, Reporter, Trainer } from '../../contract/index.ts'
import { knowSecrets, wordsOf } from '../../kit/index.ts'
import { scopeOf, type StoredOrder } from './host.ts'
import { readOrder } from './order.ts'
import { LimitedReporter } from './reporter.ts'
import { parseResult } from './result.ts'
import { ThreadDocuments } from './thread-documents.ts'
import { reporterTo, type FromTrainerThread, type ThreadSettings, type ToTrainerThread } from './wire.ts'

type LoadRecipe = (plugin: ThreadSettings['plugin'], config: JsonObject) => Promise<Recipe>

export function serveTrainer(load: LoadRecipe): void {
  if (parentPort === null) throw new Error('this file runs as the thread of a trainer')
  const settings: ThreadSettings = workerData
  redirectOutput()
  const port = parentPort
  knowSecrets(settings.secrets)
  let opened: Promise<Trainer> | null = null
  let stopping = new AbortController()
  const documents = settings.hasDocuments ? new ThreadDocuments((call) => say(port, call)) : null
  const open = (): Promise<Trainer> => (opened ??= openTrainer(load, settings, documents))
  port.on('message', (message: ToTrainerThread) => {
    if (message.ask === 'documents') return documents?.hear(message)
    if (message.ask === 'abort') return stopping.abort()
    stopping = new AbortController()
    void takeStep(
      open,
      message.order,
      reporterTo((report) => say(port, report)),
      stopping.signal,
    ).then((answer) => say(port, answer))
  })
}

/**
 * Plug-in output goes to standard error, like the log: standard output is for the start message. Done inside the thread, since reading a
 * thread's output from outside keeps the process alive.
 */
function redirectOutput(): void {
  Object.defineProperty(process, 'stdout', { value: process.stderr })
}

async function openTrainer(load: LoadRecipe, settings: ThreadSettings, documents: ThreadDocuments | null): Promise<Trainer> {
  const { plugin, component, config } = settings
  const recipe = await load(plugin, config)
  const plan = new Map(Object.entries(recipe.trainers?.(config) ?? {})).get(component)
  if (plan === undefined) throw new Error(`recipe ${plugin.name} has no trainer named ${JSON.stringify(component)} in the trainer's thread`)
  return plan.open({ ...scopeOf(settings), ...(documents !== null && { documents: documents.of() }) })
}

/** Always answers, with plain data that can be sent between threads. */
async function takeStep(open: () => Promise<Trainer>, order: StoredOrder, to: Reporter, signal: AbortSignal): Promise<FromTrainerThread> {
  const report = new LimitedReporter(to)
  try {
    const trainer = await open()
    return { said: 'done', result: parseResult(await trainer.step(readOrder(order), report, signal)) }
  } catch (error) {
    return { said: 'failed', words: wordsOf(error) }
  } finally {
    report.close()
  }
}

function say(port: MessagePort, message: FromTrainerThread): void {
  port.postMessage(message)
}
