/** The resident agent: takes turns one after the other, and changes to a new release between two of them. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { openCapture, capturesFolder, homeOf } from '@svc-ai/agent/shared'
import {
  connect,
  type Svc,
  Failure,
  RECEIPT_HEADER,
  RELEASE_HEADER,
  RELEASE_TAG_HEADER,
  SCENARIO_HEADER,
  SESSION_TAG_HEADER,
  trustOf,
} from '@svc-ai/client/shared'
import { isSameTrust } from '@svc-ai/client/signing'
import type { Message, ModelPlace } from './chat.ts'
import { TurnEnded } from './ended.ts'
import { POLL_SECONDS_MAX, SESSIONS_MAX } from './limits.ts'
import { fetchRelease, mount, mountedIn, nameOf, type CheckedRelease, type Mounted, type ReleaseSource } from './mount.ts'
import type { ResidentPlaces } from './places.ts'
import { runTurn } from './run-turn.ts'
import { sceneOf } from './turn.ts'
import { selfTools } from './self-tools.ts'
import { openLog, redactor, sessionName } from './session-log.ts'
import type { SocketAnswer } from './socket.ts'
import type { Data } from './tree.ts'

/** `provisional`: as `head`, but the provisional release while there is one. */
export const FOLLOW_MODES = ['head', 'provisional', 'pinned'] as const
type FollowMode = (typeof FOLLOW_MODES)[number]

export interface ResidentOptions {
  readonly url: string
  readonly scenario: string
  readonly token: string | null
  readonly follow: FollowMode
  readonly pollSeconds: number
  readonly turnSeconds: number
  readonly selfTools: boolean
}

export interface Resident {
  readonly answer: SocketAnswer
  /** Returns once the signal is given. */
  followHead(signal: AbortSignal): Promise<void>
}

interface Session {
  readonly id: string
  readonly name: string
  readonly messages: Message[]
}

const SERVICE_SECONDS_MAX = 60
const SESSION_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Throws when there is no release to begin with. */
export async function openResident(places: ResidentPlaces, options: ResidentOptions, say: (line: string) => void): Promise<Resident> {
  const service = connect(options)
  const source = { ...options, root: places.root }
  let mounted = await firstRelease(source, options.follow, say)
  /** What the service last called its head, and what that turned out to be here. */
  let head = { heard: mounted.releaseId, known: mounted.releaseId }
  let [lane, turns]: [Promise<unknown>, number] = [Promise.resolve(), 0]
  const sessions = new Map<string, Session>()

  const inLane = <T>(work: () => Promise<T>): Promise<T> => {
    const result = lane.then(work)
    lane = result.catch(() => undefined)
    return result
  }
  const take = async (checked: CheckedRelease): Promise<void> => {
    const { manifest, trust, note } = checked
    const isMounted = manifest.release_id === mounted.releaseId
    if (isMounted && isSameTrust(trustOf(places.root, homeOf(process.env)), trust)) return
    await inLane(async () => {
      mounted = await mount(places.root, checked)
    })
    if (note !== null) say(note)
    if (isMounted) return
    say(`${nameOf(manifest.release_id, manifest.provisional === true)} is mounted`)
    for (const { kind, name } of manifest.requires) say(`it needs ${kind} ${name}`)
  }
  const follow = async (): Promise<void> => {
    const { heard } = head
    await take(await fetchRelease(source, { provisional: options.follow === 'provisional' }))
    head = { heard: head.heard, known: heard }
  }
  const turn = async (request: Data, tell: (line: Data) => void, gone: AbortSignal): Promise<Data> => {
    const session = sessionOf(sessions, request['session'])
    const end = await inLane(() =>
      takeTurn({ places, options, service, session, mounted, onHead: (heard) => (head = { ...head, heard }) }, request, tell, gone),
    )
    turns += 1
    // Not awaited: the caller has the answer, and the next turn waits for the mount itself.
    if (options.follow !== 'pinned' && head.heard !== head.known) void soon(follow, say)
    return end
  }
  const control = async (request: Data): Promise<Data> => {
    const { releaseId } = mounted
    const { url, scenario, follow: mode } = options
    if (request['action'] === 'status')
      return { type: 'status', pid: process.pid, url, scenario, release_id: releaseId, follow: mode, turns }
    if (request['action'] !== 'mount') throw new Failure('the action must be status or mount')
    const { release, provisional } = request
    const checked = await fetchRelease(source, {
      ...(typeof release === 'string' && { release }),
      provisional: provisional === true || (release === undefined && options.follow === 'provisional'),
    })
    await take(checked)
    const isProvisional = checked.manifest.provisional === true
    return { type: 'mounted', release_id: mounted.releaseId, before: releaseId, ...(isProvisional && { provisional: true }) }
  }
  return {
    answer: (request, tell, gone) => {
      if (request['type'] === 'turn') return turn(request, tell, gone)
      if (request['type'] === 'control') return control(request)
      throw new Failure('the type of a request must be turn or control')
    },
    followHead: (signal) => (options.follow !== 'pinned' ? poll(follow, options.pollSeconds, say, signal) : Promise.resolve()),
  }
}

/** Pinned, the one that is there; else the served one, and the one that is there while the service is away. */
async function firstRelease(source: ReleaseSource, follow: FollowMode, say: (line: string) => void): Promise<Mounted> {
  const there = await mountedIn(source.root)
  if (there !== null && follow === 'pinned') return there
  try {
    const checked = await fetchRelease(source, { provisional: follow === 'provisional' })
    const mounted = await mount(source.root, checked)
    if (checked.note !== null) say(checked.note)
    return mounted
  } catch (error) {
    if (there === null) throw error
    say(`${wordsOf(error)}; going on with release ${there.releaseId}`)
    return there
  }
}

/** How long after a failure it is tried again. */
const SOON_SECONDS = [1, 5]

/** A connection that was closed meanwhile is worth another try; what stays away is left to the poll. */
async function soon(follow: () => Promise<void>, say: (line: string) => void): Promise<void> {
  for (const seconds of [...SOON_SECONDS, null]) {
    try {
      return await follow()
    } catch (error) {
      say(wordsOf(error))
      if (seconds !== null) await sleep(seconds * 1000)
    }
  }
}

/** A service that fails is asked less and less often. */
async function poll(follow: () => Promise<void>, pollSeconds: number, say: (line: string) => void, signal: AbortSignal): Promise<void> {
  for (let seconds = pollSeconds; !signal.aborted;) {
    await sleep(seconds * 1000, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    try {
      await follow()
      seconds = pollSeconds
    } catch (error) {
      say(wordsOf(error))
      seconds = Math.max(pollSeconds, Math.min(seconds * 2, POLL_SECONDS_MAX))
    }
  }
}

/** The one not used for longest goes first. */
function sessionOf(sessions: Map<string, Session>, wanted: unknown): Session {
  const name = typeof wanted === 'string' ? wanted : randomUUID()
  if (!SESSION_NAME.test(name)) throw new Failure('a session is named by letters, digits and . _ -, 64 at most')
  const session = sessions.get(name) ?? { id: randomUUID(), name, messages: [] }
  sessions.delete(name)
  sessions.set(name, session)
  const [oldest] = sessions.keys()
  if (sessions.size > SESSIONS_MAX && oldest !== undefined) sessions.delete(oldest)
  return session
}

interface TurnParts {
  readonly places: ResidentPlaces
  readonly options: ResidentOptions
  readonly service: Svc
  readonly session: Session
  readonly mounted: Mounted
  readonly onHead: (release: string) => void
}

async function takeTurn(parts: TurnParts, request: Data, tell: (line: Data) => void, gone: AbortSignal): Promise<Data> {
  const { places, options, session, mounted } = parts
  const { prompt, workdir } = request
  if (typeof prompt !== 'string' || prompt.trim() === '' || typeof workdir !== 'string')
    throw new Failure('a turn needs a prompt and a workdir')
  gone.throwIfAborted()
  const clock = new AbortController()
  const timer = setTimeout(
    () => clock.abort(new TurnEnded('turn-timeout', `the turn took longer than ${options.turnSeconds} s`)),
    options.turnSeconds * 1000,
  )
  const { url, scenario, token } = options
  const release = { url, scenario, adapter: 'native', release_id: mounted.releaseId }
  const head = { ...release, session: session.id, pid: process.pid, started_at: Date.now() / 1000 }
  const capture = openCapture(capturesFolder(homeOf(process.env)), head)
  try {
    const model = await modelOf(parts, (receipt) => capture.keep(receipt))
    const place = { url, scenario, token, timeoutSeconds: SERVICE_SECONDS_MAX }
    const own = options.selfTools ? selfTools({ service: place, session: session.id, releaseId: mounted.releaseId }) : []
    const signal = AbortSignal.any([gone, clock.signal])
    const log = openLog({
      folder: places.sessions,
      name: sessionName(session.name),
      redact: redactor(token),
      onEvent: (event, data) => tell({ type: 'event', event, data }),
    })
    const end = await runTurn(sceneOf({ tree: mounted.tree, model, workdir, signal, selfTools: own }), log, session.messages, prompt)
    return { type: 'end', ...end, session: session.name, release_id: mounted.releaseId }
  } finally {
    clearTimeout(timer)
    capture.close()
  }
}

async function modelOf(
  { options, service, session, mounted, onHead }: TurnParts,
  onReceipt: (receipt: string) => void,
): Promise<ModelPlace> {
  const { url, scenario, token } = options
  return {
    baseUrl: `${url}/v1`,
    apiKey: token,
    model: await modelName(service, scenario),
    contextTokens: mounted.tree.model.contextTokens,
    headers: {
      [SCENARIO_HEADER]: Buffer.from(scenario).toString('latin1'),
      [RELEASE_TAG_HEADER]: mounted.releaseId,
      [SESSION_TAG_HEADER]: session.id,
    },
    onAnswer: (headers) => {
      const [release, receipt] = [headers.get(RELEASE_HEADER), headers.get(RECEIPT_HEADER)]
      if (release !== null) onHead(release)
      if (receipt !== null) onReceipt(receipt)
    },
  }
}

/** As the scenario is set up; a service that does not say is asked without a name. */
async function modelName(service: Svc, scenario: string): Promise<string | null> {
  const rows = await service.scenarios().catch(() => [])
  const name = rows.find((row) => row.scenario === scenario)?.model?.['model']
  return typeof name === 'string' ? name : null
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
