/** Whether a pattern of the tree is found in a text, asked of a thread: some patterns take for ever on some texts. */
import { Worker } from 'node:worker_threads'
import { PATTERN_SECONDS_MAX } from './limits.ts'

const MATCHER = `
  const { parentPort, workerData } = require('node:worker_threads')
  parentPort.postMessage(new RegExp(workerData.pattern).test(workerData.text))
`

/** Null when it took too long or is no pattern. */
export function isFound(pattern: string, text: string): Promise<boolean | null> {
  return new Promise((resolve) => {
    const worker = new Worker(MATCHER, { eval: true, workerData: { pattern, text }, env: {}, execArgv: [] })
    let timer: NodeJS.Timeout | undefined
    const end = (found: boolean | null): void => {
      clearTimeout(timer)
      void worker.terminate()
      resolve(found)
    }
    // Starting the thread is no fault of the pattern's.
    worker.on('online', () => (timer = setTimeout(() => end(null), PATTERN_SECONDS_MAX * 1000)))
    worker.on('message', (found: boolean) => end(found))
    worker.on('error', () => end(null))
  })
}
