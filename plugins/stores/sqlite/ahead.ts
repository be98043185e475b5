/** The writer's thread, which may be started before the store is opened: Node takes longer to start a thread than the writer to open its files. */
import type { Worker } from 'node:worker_threads'
import { startThread } from './thread.ts'
import type { StoreSettings } from './messages/wire.ts'

let ahead: Worker | null = null

/** For the next store that this process opens. One that is never opened keeps no process from ending. */
export function startWriterAhead(): void {
  if (ahead !== null) return
  ahead = startThread('writer')
  ahead.once('error', () => (ahead = null)).unref()
}

/** The one that was started ahead, else a new one. */
export function takeWriter(settings: StoreSettings): Worker {
  const writer = ahead ?? startThread('writer')
  ahead = null
  writer.ref()
  writer.postMessage(settings, [])
  return writer
}
