/** Runs a long errand in a thread of its own, until it is done or given up. */
import { storeClosed } from '../../../src/contract/index.ts'
import type { Errand, ErrandReport, ErrandResults } from './errand.ts'
import { storageFailed } from './refusals.ts'
import { startThread } from './thread.ts'
import { fromWire, isRefused } from './messages/wire.ts'

export async function runErrand<Name extends Errand['errand']>(
  errand: Errand & { readonly errand: Name },
  signal?: AbortSignal,
  progress?: (checked: number, total: number) => void,
): Promise<ErrandResults[Name]> {
  const worker = startThread('errand', errand)
  const { promise, resolve, reject } = Promise.withResolvers<ErrandResults[Name]>()
  worker.on('message', (report: ErrandReport<Name>) => {
    if (!('done' in report)) progress?.(report.checked, report.total)
    else if (isRefused(report.done)) reject(fromWire(report.done))
    else resolve(report.done)
  })
  worker.on('error', reject)
  worker.on('exit', () => reject(signal?.aborted === true ? storeClosed() : storageFailed()))
  const giveUp = () => void worker.terminate()
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    signal?.throwIfAborted()
    return await promise
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}
