/** Doctor's checks of plug-ins, recipes, tasks and seeds: each is loaded as at a start, in a thread of its own. */
import { Worker } from 'node:worker_threads'
import type { LoadedConfig } from '../config/index.ts'
import { splitMessage, type Explained, type Finding } from './explain.ts'

export interface PartFound {
  readonly part: string
  readonly problems: readonly Explained[]
  readonly warnings: readonly string[]
  /** Whether the service itself will call a model for it. */
  readonly asksModels: boolean
}

/** The thread's messages: a check begins, a check ended. */
export type PartMessage = { readonly begun: string } | { readonly ended: PartFound }

export interface PartsOrder {
  readonly loaded: LoadedConfig
  readonly known: number
}

const SECONDS_MAX = 20
const CORRECT_IT = 'correct the configuration, or the plug-in (docs/extend)'

export function findingsOfParts(parts: readonly PartFound[]): readonly Finding[] {
  return parts.flatMap(({ part: check, problems, warnings }): readonly Finding[] => {
    const findings: readonly Finding[] = [
      ...problems.map(({ found, fix = CORRECT_IT }) => ({ check, state: 'problem', found, fix }) as const),
      ...warnings.map((message) => ({ check, state: 'warning', ...splitMessage(message) }) as const),
    ]
    return findings.length > 0 ? findings : [{ check, state: 'ok', found: 'loaded' }]
  })
}

/** In the order of the configuration. A check that hangs is abandoned with its thread; the next ones run in another. */
export async function examineParts(loaded: LoadedConfig, secondsMax = SECONDS_MAX): Promise<readonly PartFound[]> {
  const found: PartFound[] = []
  for (;;) {
    const stuck = await examineInThread({ loaded, known: found.length }, secondsMax, (part) => found.push(part))
    if (stuck === null) return found
    found.push(stuck)
  }
}

/** Resolves with the part that hung; null when all checks ended. */
function examineInThread(order: PartsOrder, secondsMax: number, onFound: (part: PartFound) => void): Promise<PartFound | null> {
  // Plug-in output is kept off standard output, which a program may read.
  const worker = new Worker(threadFile(), { workerData: order, stdout: true, stderr: true })
  worker.stdout.resume()
  worker.stderr.resume()
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    let current: string | null = null
    const settle = (stuck: PartFound | null): void => {
      clearTimeout(timer)
      resolve(stuck)
      void worker.terminate()
    }
    const stop = (problem: Explained): void =>
      current === null
        ? reject(new Error(`the configured plug-ins cannot be checked: ${problem.found}`))
        : settle({ part: current, problems: [problem], warnings: [], asksModels: false })
    worker.on('message', (message: PartMessage) => {
      clearTimeout(timer)
      if ('ended' in message) return onFound(message.ended)
      current = message.begun
      timer = setTimeout(() => stop(stillLoading(secondsMax)), secondsMax * 1000)
    })
    worker.on('error', (error: unknown) => stop({ found: `it fails while it is loaded: ${firstLine(error)}` }))
    worker.on('exit', (code) => (code === FINISHED ? settle(null) : stop(code === UNSETTLED ? NOTHING_LEFT : ENDED)))
  })
}

/** Exit codes of the thread: all checks done, or the event loop is empty while one is still loading. */
export const FINISHED = 100
export const UNSETTLED = 101

const stillLoading = (seconds: number): Explained => ({
  found: `it is still loading after ${seconds} s; nothing more is known about it`,
  fix: 'the service starts only once it is loaded: look at what its module waits for',
})
const NOTHING_LEFT: Explained = {
  found: 'it is still loading, and nothing is left that could finish it',
  fix: 'look at what its module waits for',
}
const ENDED: Explained = { found: 'it ends the process while it is loaded', fix: 'take process.exit out of its module' }

const firstLine = (error: unknown): string => String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? ''

const threadFile = (): URL => new URL(import.meta.url.endsWith('.ts') ? './doctor-thread.ts' : './doctor-thread.js', import.meta.url)
