/** Looks for credentials in the texts of a proposal without blocking this thread: a megabyte of them takes a second. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { unavailable } from '../contract/index.ts'
import { Lane, within } from '../kit/index.ts'
import { isCredential } from './screens.ts'

/** Starting a thread takes longer than looking at fewer. */
const HERE_CHARACTERS_MAX = 16_384
/** A wall-clock limit for a stuck thread only: a busy machine may be slow. */
const STUCK_SECONDS_MAX = 300

const askers = new Lane()

/** Those of the texts that hold what looks like a credential. */
export async function credentialsAmong(texts: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const list = [...texts]
  if (list.reduce((sum, { length }) => sum + length, 0) <= HERE_CHARACTERS_MAX) return new Set(list.filter(isCredential))
  return askers.run(async () => {
    const worker = new Worker(ownEntry(), { name: 'texts', workerData: list, env: {} })
    worker.unref()
    try {
      const ended = once(worker, 'exit').then(() => Promise.reject(new Error('the thread has ended')))
      const [found]: string[][] = await within(STUCK_SECONDS_MAX, Promise.race([once(worker, 'message'), ended]))
      return new Set(found)
    } catch (cause) {
      throw unavailable('text_check_unavailable', 'the thread that checks texts did not answer; send the proposal again', { cause })
    } finally {
      void worker.terminate()
    }
  })
}

/** The file a thread runs, from source and from a build alike. */
const ownEntry = (): URL => new URL(import.meta.url.endsWith('.ts') ? './texts-thread.ts' : './texts-thread.js', import.meta.url)
