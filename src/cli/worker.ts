/** `svc worker`: plays episodes of a service on this machine, until it is told to stop. */
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { Agent, fetch } from 'undici'
import { builtins } from '../../plugins/index.ts'
import { ConfigProblem, loadPlugin, type LoadedConfig } from '../config/index.ts'
import { isObject, type Parts } from '../contract/index.ts'
import { openEpisodePlayer, type EpisodePlayer } from '../evolution/index.ts'
import { wordsOf } from '../kit/index.ts'
import { FleetRefusal, work, type FleetService, type WorkerEvent } from '../worker/index.ts'
import { loadFor } from './config.ts'
import { printError } from './explain.ts'
import { serviceAddress, type RemoteAddress, type RemoteOptions } from './remote/address.ts'
import { countOf } from './tasks/place.ts'
import { oneLine } from './screen/text.ts'
import { EXIT, type Surroundings } from './surroundings.ts'

export interface WorkerOptions extends RemoteOptions {
  readonly slots: string
  readonly name: string
}

export async function worker(options: WorkerOptions, surroundings: Surroundings): Promise<number> {
  const [draining, stopping] = [new AbortController(), new AbortController()]
  surroundings.onStop(() => {
    if (draining.signal.aborted) return stopping.abort()
    draining.abort()
    surroundings.err('takes no more episodes, and ends when those that it plays have ended; once more to give them back at once')
  })
  try {
    const slots = countOf('--slots', options.slots)
    const players = await playersOf(await loadFor(options, surroundings), surroundings)
    const place = await serviceAddress(options, surroundings)
    surroundings.err(`worker ${options.name} plays up to ${slots} episodes at once for ${place.url}`)
    const tell = (event: WorkerEvent): void => surroundings.out(options.json === true ? JSON.stringify(event) : oneLine(lineOf(event)))
    await work({
      name: options.name,
      slots,
      memoryBytes: memoryHere(),
      players,
      service: serviceAt(place),
      tell,
      draining: draining.signal,
      stopping: stopping.signal,
    })
    return EXIT.fine
  } catch (error) {
    if (error instanceof FleetRefusal) {
      surroundings.err(oneLine(error.message))
      return EXIT.failed
    }
    printError(error, null, surroundings)
    return EXIT.misconfigured
  }
}

/** A container may have less than its machine. */
const memoryHere = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity)

/** One for each recipe that plays episodes. Throws where this machine can play none. */
async function playersOf({ config, baseDirectory, ownPaths }: LoadedConfig, surroundings: Surroundings): Promise<readonly EpisodePlayer[]> {
  const warn = (line: string): void => surroundings.err(oneLine(line))
  const parts: Parts = { plugin: (kind, name) => loadPlugin(kind, name, builtins, baseDirectory), baseDirectory, ownPaths, warn }
  const players: EpisodePlayer[] = []
  for (const [name, { use: _use, ...sections }] of Object.entries(config.recipes)) {
    if (!isObject(sections['evolution'])) continue
    const player = await openEpisodePlayer({ ...sections }, parts, join(config.storage.agent_record_dir, 'agents'))
    await player.ready().catch((error: unknown) => {
      throw new ConfigProblem([`recipe ${name}: no episode can be played here: ${wordsOf(error)}`])
    })
    players.push(player)
  }
  if (players.length === 0)
    throw new ConfigProblem(['no recipe of the configuration plays episodes; give the file of the service: -c svc.yaml'])
  return players
}

/** An episode may take long, and so may waiting for one. */
const PATIENT = new Agent({ headersTimeout: 0, bodyTimeout: 0 })

const serviceAt = ({ url, token }: RemoteAddress): FleetService => ({
  url: url.replace(/(?<!\/)\/+$/, ''),
  async ask(path, body, signal) {
    const response = await fetch(`${url.replace(/(?<!\/)\/+$/, '')}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token !== null && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
      signal,
      dispatcher: PATIENT,
    })
    const answer: unknown = await response.json().catch(() => null)
    if (response.status !== 200) throw new FleetRefusal(response.status, refusedWords(answer, response.status))
    return answer
  },
})

function refusedWords(answer: unknown, status: number): string {
  const { message } = Object(Object(answer).error)
  return typeof message === 'string' ? message : `the service answered with status ${status}`
}

function lineOf(event: WorkerEvent): string {
  const time = new Date().toISOString().slice(11, 19)
  if (event.event === 'waiting') return `${time} waits: ${event.reason}`
  const about = `${event.scenario}: ${event.task} (${event.side})`
  if (event.event === 'taken') return `${time} plays ${about}`
  if (event.event === 'cancelled') return `${time} ended ${about}: not wanted any more`
  if (event.event === 'given_back') return `${time} gave back ${about}: ${event.reason}`
  return `${time} played ${about} in ${event.seconds} s: ${event.score ?? event.failure ?? 'no score'}`
}
