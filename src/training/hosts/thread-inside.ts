/** A trainer's thread from the inside: opens the trainer once, then takes one step after another. */
import { setPriority } from 'node:os'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import type { Recipe, Reporter, Trainer } from '../../contract/index.ts'
import { wordsOf } from '../../kit/index.ts'
import { scopeOf, type StoredOrder } from './host.ts'
import { readOrder } from './order.ts'
import { Outgoing } from './outgoing.ts'
import { parseResult } from './result.ts'
import type { FromThread, ThreadSettings, ToThread } from './wire.ts'

/** Far enough below everything else that accepting a record never waits for a busy trainer, and above what only runs on an idle machine. */
const NICENESS = 15

type LoadRecipe = (plugin: ThreadSettings['plugin']) => Promise<Recipe>

export function serveTrainer(load: LoadRecipe): void {
  if (parentPort === null) throw new Error('this file runs as the thread of a trainer')
  standBack()
  printBeside()
  const port = parentPort
  const settings: ThreadSettings = workerData
  let opened: Promise<Trainer> | null = null
  let stopping = new AbortController()
  const open = (): Promise<Trainer> => (opened ??= openTrainer(load, settings))
  port.on('message', (message: ToThread) => {
    if (message.ask === 'abort') {
      stopping.abort()
      return
    }
    stopping = new AbortController()
    void takeStep(open, message.order, reporterTo(port), stopping.signal).then((answer) => say(port, answer))
  })
}

/** Elsewhere than on Linux a priority is the whole process's, and the service itself would stand back. */
function standBack(): void {
  if (process.platform === 'linux') setPriority(0, NICENESS)
}

/**
 * The service's own standard output is for what it says at its start; whatever a plug-in prints goes where the log goes. Done in here, since
 * whoever reads a thread's output from outside is kept alive by it.
 */
function printBeside(): void {
  Object.defineProperty(process, 'stdout', { value: process.stderr })
}

async function openTrainer(load: LoadRecipe, settings: ThreadSettings): Promise<Trainer> {
  const { plugin, component, config } = settings
  const recipe = await load(plugin)
  const plan = new Map(Object.entries(recipe.trainers?.(config) ?? {})).get(component)
  if (plan === undefined) throw new Error(`recipe ${plugin.name} has no trainer named ${JSON.stringify(component)} where its steps run`)
  return plan.open(scopeOf(settings))
}

function reporterTo(port: MessagePort): Reporter {
  return {
    phase: (name, more) => say(port, { said: 'phase', name, more }),
    line: (kind, text, failed) => say(port, { said: 'line', kind, text, failed }),
  }
}

/** An answer in any case, and one that can cross: everything in it was made plain here. */
async function takeStep(open: () => Promise<Trainer>, order: StoredOrder, to: Reporter, signal: AbortSignal): Promise<FromThread> {
  const report = new Outgoing(to)
  try {
    const trainer = await open()
    return { said: 'done', result: parseResult(await trainer.step(readOrder(order), report, signal)) }
  } catch (error) {
    return { said: 'failed', words: wordsOf(error) }
  } finally {
    report.close()
  }
}

function say(port: MessagePort, message: FromThread): void {
  port.postMessage(message)
}
