/** Background traffic for a test. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { onTestFinished } from 'vitest'

export interface Load {
  /** Stops it and returns the results. */
  stop(): Promise<{ readonly kept: number; readonly failed: number }>
}

export function startLoad(address: string, scenario: string, perSecond: number): Load {
  const worker = new Worker(new URL('../fixtures/load.ts', import.meta.url), { workerData: { address, scenario, perSecond } })
  onTestFinished(async () => void (await worker.terminate()))
  return {
    async stop() {
      const told = once(worker, 'message')
      worker.postMessage('stop', [])
      const [counts]: { readonly kept: number; readonly failed: number }[] = await told
      if (counts === undefined) throw new Error('the traffic ended without a word')
      return counts
    },
  }
}
