/** `svc-native serve`: a resident agent for one folder, until it is told to stop. */
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { homeOf, moveReceipts, takeLock, SHARED, writeWhole } from '@svc-ai/agent/shared'
import { Failure } from '@svc-ai/client/shared'
import { placesIn, type Places } from './places.ts'
import { openResident, type ResidentOptions } from './resident.ts'
import { isServed, listen } from './socket.ts'

export interface ServeOptions extends ResidentOptions {
  readonly folder: string
}

/** Throws a `Failure` when another serves the folder, or there is nothing to serve. */
export async function serve(options: ServeOptions, say: (line: string) => void, signal: AbortSignal): Promise<void> {
  mkdirSync(options.folder, { recursive: true })
  await moveReceipts(homeOf(process.env))
  const places = placesIn(options.folder)
  mkdirSync(places.native, { recursive: true })
  const lock = await takeLock(places.lock)
  if (lock === null) throw await alreadyServed(places)
  try {
    const resident = await openResident(places, options, say)
    const { url, scenario } = options
    await writeWhole({ path: places.state, text: `${JSON.stringify({ url, scenario }, null, 2)}\n`, mode: SHARED })
    const stop = new AbortController()
    const signals = AbortSignal.any([signal, stop.signal])
    const server = await listen(places.socket, (request, tell, gone) => resident.answer(request, tell, AbortSignal.any([gone, signal])))
    say(`serving ${places.root} for scenario ${scenario} at ${url}`)
    const following = resident.followHead(signals)
    try {
      if (!signal.aborted) await once(signal, 'abort')
    } finally {
      stop.abort()
      await following
      server.close()
      await once(server, 'close')
    }
  } finally {
    await lock.release()
  }
}

async function alreadyServed({ root, socket, lock }: Places): Promise<Failure> {
  if (await isServed(socket)) return new Failure(`another 'svc-native serve' runs for ${root}: stop it first, or serve another folder`)
  return new Failure(`another process holds ${lock}: wait until it serves; if there is none, remove the file`)
}
