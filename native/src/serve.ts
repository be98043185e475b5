/** `svc-native serve`: a resident agent for one folder, until it is stopped. */
import { showHiddenLine } from '@svc-ai/client/hidden'
import { once } from 'node:events'
import { homeOf, moveReceipts, takeLock, SHARED, writeWhole } from '@svc-ai/agent/shared'
import { Failure, UsageError, scenarioName, serviceUrl, tokenIn, readOptions, wholeNumber } from '@svc-ai/client/shared'
import { POLL_SECONDS_DEFAULT, TURN_SECONDS_DEFAULT } from './limits.ts'
import { placesIn, type ResidentPlaces } from './places.ts'
import { FOLLOW_MODES, openResident, type ResidentOptions } from './resident.ts'
import { isServed, listen } from './socket.ts'
import { mkdirpSync } from '@svc-ai/client/folders'

const SECONDS_MAX = 86_400

interface ResidentServeOptions extends ResidentOptions {
  readonly folder: string
}

export async function serveCommand(args: readonly string[], signal: AbortSignal): Promise<number> {
  await serve(optionsOf(args), (line) => process.stderr.write(`svc-native: ${showHiddenLine(line)}\n`), signal)
  return 0
}

function optionsOf(args: readonly string[]): ResidentServeOptions {
  const values = readOptions(args, {
    tree: { type: 'string', default: '.' },
    scenario: { type: 'string' },
    url: { type: 'string' },
    // A release that nobody installed here runs nothing here.
    follow: { type: 'string', default: 'pinned' },
    'poll-interval': { type: 'string', default: String(POLL_SECONDS_DEFAULT) },
    'turn-timeout': { type: 'string', default: String(TURN_SECONDS_DEFAULT) },
    'self-tools': { type: 'boolean', default: false },
  })
  const follow = FOLLOW_MODES.find((mode) => mode === values.follow)
  if (follow === undefined) throw new UsageError('--follow must be head, provisional or pinned')
  return {
    folder: values.tree,
    url: serviceUrl(values.url),
    scenario: scenarioName(values.scenario),
    token: tokenIn(process.env),
    follow,
    pollSeconds: wholeNumber('--poll-interval', values['poll-interval'], 1, SECONDS_MAX),
    turnSeconds: wholeNumber('--turn-timeout', values['turn-timeout'], 1, SECONDS_MAX),
    selfTools: values['self-tools'],
  }
}

/** Throws a `Failure` when another serves the folder, or there is nothing to serve. */
async function serve(options: ResidentServeOptions, say: (line: string) => void, signal: AbortSignal): Promise<void> {
  mkdirpSync(options.folder)
  await moveReceipts(homeOf(process.env))
  const places = placesIn(options.folder)
  mkdirpSync(places.native)
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

async function alreadyServed({ root, socket, lock }: ResidentPlaces): Promise<Failure> {
  if (await isServed(socket)) return new Failure(`another 'svc-native serve' runs for ${root}: stop it first, or serve another folder`)
  return new Failure(`another process holds ${lock}: wait until it serves; if there is none, remove the file`)
}
