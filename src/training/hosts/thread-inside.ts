/** A trainer's thread from the inside: opens the trainer once, then takes one step after another. */
import { spawn } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { childEnvironment, type JsonObject, type Recipe, type Reporter, type Trainer } from '../../contract/index.ts'
import { wordsOf } from '../../kit/index.ts'
import { scopeOf, type StoredOrder } from './host.ts'
import { readOrder } from './order.ts'
import { Outgoing } from './outgoing.ts'
import { parseResult } from './result.ts'
import type { FromThread, ThreadSettings, ToThread } from './wire.ts'

/** Far enough below everything else that accepting a record never waits for a busy trainer, and above what only runs on an idle machine. */
const NICENESS = 15

type LoadRecipe = (plugin: ThreadSettings['plugin'], config: JsonObject) => Promise<Recipe>

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

/**
 * Out of the way of whoever answers requests. A low niceness is not enough where every core has a busy trainer: the scheduler still lets one
 * finish its slice of a few milliseconds. A thread of the idle class gives way at once. Both are the calling thread's alone on Linux; elsewhere
 * they would be the whole process's.
 */
function standBack(): void {
  if (process.platform !== 'linux') return
  setPriority(0, NICENESS)
  const thread = basename(readlinkSync('/proc/thread-self'))
  // Where the command is missing, niceness it is.
  spawn('chrt', ['--idle', '--pid', '0', thread], { env: childEnvironment(process.env), stdio: 'ignore' })
    .on('error', () => undefined)
    .unref()
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
  const recipe = await load(plugin, config)
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
