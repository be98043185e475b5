/** Starting the store's threads, from source and from a build alike. */
import { parentPort, Worker, type MessagePort } from 'node:worker_threads'
import { storageFailed } from './refusals.ts'
import { fromWire, isRefused, type StoreReply } from './messages/wire.ts'

export type ThreadName = 'writer' | 'reader' | 'errand' | 'indexer' | 'searcher'

export function startThread(name: ThreadName, settings?: object): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new Worker(new URL(`./${name}.${extension}`, import.meta.url), { workerData: settings, name })
}

/** The way to a thread: the thread itself for the one that started it, a port for every other. */
export type ThreadLine = Worker | MessagePort

export function onMessage(line: ThreadLine, listener: (message: StoreReply) => void): void {
  if (line instanceof Worker) line.on('message', listener)
  else line.on('message', listener)
}

/** The thread is over, with the error it failed with, or the port is closed. */
export function onEnd(line: ThreadLine, listener: (error?: Error) => void): void {
  if (!(line instanceof Worker)) return void line.once('close', () => listener())
  let failure: Error | undefined
  line.on('error', (error) => (failure = error)).once('exit', () => listener(failure))
}

/** The first thing a thread says is that it is ready, or why it is not. */
export async function untilReady<Way extends ThreadLine>(line: Way): Promise<Way> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const onFailure = () => reject(storageFailed())
  listen('on')
  try {
    const answer = await promise
    if (isRefused(answer)) throw fromWire(answer)
    return line
  } finally {
    listen('off')
  }

  function listen(how: 'on' | 'off'): void {
    if (line instanceof Worker) line[how]('message', resolve)[how]('error', reject)[how]('exit', onFailure)
    else line[how]('message', resolve)[how]('close', onFailure)
  }
}

export function threadPort(): MessagePort {
  if (parentPort === null) throw new Error('this file runs as a thread of the store')
  return parentPort
}
