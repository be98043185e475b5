/** Starting the store's threads, from source and from a build alike. */
import { parentPort, Worker, type MessagePort } from 'node:worker_threads'
import { storageFailed } from './refusals.ts'
import { fromWire, isRefused } from './wire.ts'

export type ThreadName = 'writer' | 'reader' | 'errand'

export function startThread(name: ThreadName, settings: object): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new Worker(new URL(`./${name}.${extension}`, import.meta.url), { workerData: settings })
}

/** The first thing a thread says is that it is ready, or why it is not. */
export async function untilReady(worker: Worker): Promise<Worker> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const onExit = () => reject(storageFailed())
  worker.once('message', resolve).once('error', reject).once('exit', onExit)
  try {
    const answer = await promise
    if (isRefused(answer)) throw fromWire(answer)
    return worker
  } finally {
    worker.off('message', resolve).off('error', reject).off('exit', onExit)
  }
}

export function threadPort(): MessagePort {
  if (parentPort === null) throw new Error('this file runs as a thread of the store')
  return parentPort
}
