/** `harness`: a person's wish for a change of their harness, filed with the service and, if they like, waited for. */
import { showHiddenLine } from '@svc-ai/client/hidden'
import { randomUUID } from 'node:crypto'
import { release as systemRelease } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  field,
  type Svc,
  ServiceFailure,
  UsageError,
  readArguments,
  type CatalogRow,
  type RequestProgress,
  type Requires,
  type TrainReceipt,
} from '@svc-ai/client/shared'
import { sessionsOf } from './captures.ts'
import { heldLines } from './held.ts'
import { capturesFolder, commandOf, homeOf } from './places.ts'
import { isOnPath, isProgramName } from './programs.ts'
import { isInSession, serviceOf, SESSION, type Install } from './service.ts'
import type { Terminal } from './terminal.ts'

const POLL_SECONDS = 2
const GAVE_UP = 4
const TIMEOUT_SECONDS_MAX = 7 * 24 * 3600
/** What a harness may want to call. Whether they are there is looked up; none is run. */
const COMMANDS = `afplay say osascript open pbcopy terminal-notifier xdg-open notify-send paplay pw-play aplay wl-copy xclip
  powershell.exe wslview ffplay ffmpeg mpv mpg123 sox espeak curl git gh python3 node brew apt-get`.split(/\s+/)

/** 0 when it is filed, or settled well; 1 when it failed; 4 when it is not settled in time. */
export async function request(install: Install, args: readonly string[], terminal: Terminal, pollSeconds = POLL_SECONDS): Promise<number> {
  const { text, wait, timeoutSeconds, json } = optionsOf(args)
  const service = await serviceOf(install)
  const filed = await file(install, service, text)
  const page = `${install.record.url}${filed.page_path}`
  if (!json) terminal.print(`request ${filed.agent_record_id} is filed\n${page}`)
  if (!wait) {
    if (json) terminal.printJson({ agent_record_id: filed.agent_record_id, page_url: page })
    return 0
  }
  const watch = { service, id: filed.agent_record_id, pollSeconds, deadline: performance.now() + timeoutSeconds * 1000 }
  const settled = await settle(watch, terminal)
  const end = settled === null ? gaveUp(install, timeoutSeconds) : await endOf(install, service, filed.agent_record_id, settled)
  if (json) terminal.printJson({ agent_record_id: filed.agent_record_id, page_url: page, ...end.row })
  else terminal.print(end.line)
  return end.code
}

function optionsOf(args: readonly string[]) {
  const { values, positionals } = readArguments(args, {
    wait: { type: 'boolean', default: false },
    timeout: { type: 'string', default: '1800' },
    json: { type: 'boolean', default: false },
  })
  const text = positionals.join(' ').trim()
  if (text === '') throw new UsageError('say what should change, in quotes')
  const timeoutSeconds = Number(values.timeout)
  if (!(timeoutSeconds > 0 && timeoutSeconds <= TIMEOUT_SECONDS_MAX))
    throw new UsageError(`--timeout must be a number of seconds up to ${TIMEOUT_SECONDS_MAX}`)
  return { text, wait: values.wait, timeoutSeconds, json: values.json }
}

async function file({ record, env }: Install, service: Svc, text: string): Promise<TrainReceipt> {
  const own = isInSession(record, env) ? env[SESSION.id] : undefined
  const [newest] = own === undefined ? await sessionsOf(capturesFolder(homeOf(env)), record) : []
  return service.train({
    text,
    session: own ?? newest?.session ?? randomUUID(),
    release_id: record.release_id,
    client: {
      platform: process.platform,
      arch: process.arch,
      release: systemRelease(),
      commands: Object.fromEntries([...COMMANDS, ...programsIn(record.requires)].map((command) => [command, isOnPath(command, env)])),
    },
  })
}

/** The programs that the installed release requires. */
const programsIn = (requires: readonly Requires[]): readonly string[] =>
  requires.flatMap(({ kind, name, check = name }) => (kind === 'binary' && isProgramName(check) ? [check] : []))

interface Watch {
  readonly service: Svc
  readonly id: string
  readonly pollSeconds: number
  /** On this process's own clock, in milliseconds. */
  readonly deadline: number
}

/** Null when it took longer than the person would wait. Each state is shown for as long as it lasts. */
async function settle(watch: Watch, terminal: Terminal): Promise<RequestProgress | null> {
  let seen = await progressOf(watch)
  while (seen?.settled !== true) {
    const { state, meaning } = seen ?? { state: 'waiting', meaning: 'the service does not answer' }
    const label = meaning === null ? state : `${state}: ${meaning}`
    const next = await terminal.during(showHiddenLine(label), () => change(watch, seen))
    if (next === 'late') return null
    seen = next
  }
  return seen
}

async function change(watch: Watch, before: RequestProgress | null): Promise<RequestProgress | null | 'late'> {
  for (;;) {
    const leftMs = watch.deadline - performance.now()
    if (leftMs <= 0) return 'late'
    await sleep(Math.min(watch.pollSeconds * 1000, leftMs))
    const now = await progressOf(watch)
    if (now?.state !== before?.state || now?.settled === true) return now
  }
}

/** Null while the trouble may pass: a service that is started anew goes on with the request. */
async function progressOf({ service, id }: Watch): Promise<RequestProgress | null> {
  try {
    return await service.progress(id)
  } catch (error) {
    if (error instanceof ServiceFailure && (error.status === null || error.status === 429 || error.status >= 500)) return null
    throw error
  }
}

interface End {
  readonly code: number
  readonly line: string
  readonly row: Readonly<Record<string, unknown>>
}

const gaveUp = ({ record }: Install, timeoutSeconds: number): End => ({
  code: GAVE_UP,
  line: `not settled after ${timeoutSeconds} s; it goes on, see its page, and '${commandOf(record.adapter)} update' when it is done`,
  row: { settled: false },
})

async function endOf({ record }: Install, service: Svc, id: string, { state, step }: RequestProgress): Promise<End> {
  const row = (await service.catalog()).find(({ training_request }) => field(training_request, 'id') === id)
  const command = commandOf(record.adapter)
  const release = row?.release_id ?? null
  const about = { settled: true, state, step, release_id: release, reason: reasonOf(row) }
  if (state === 'published') return { code: 0, row: about, line: `published; '${command} update' installs it` }
  if (state !== 'pending')
    return { code: 1, row: about, line: showHiddenLine(`${state}${about.reason === null ? '' : `: ${about.reason}`}`) }
  // A token of the role agent is not shown what waits for review.
  if (release === null) return { code: 0, row: about, line: `ready for review: once a person promotes it, '${command} update' installs it` }
  const line = `ready for review: a person must promote release ${release}; '${command} update --release ${release}' tries it before that`
  return { code: 0, row: about, line: [showHiddenLine(line), ...(row === undefined ? [] : heldLines(row))].join('\n') }
}

/** Why a step published nothing: its failure, why nothing was done, or what its judge said. */
function reasonOf(row: CatalogRow | undefined): string | null {
  const reasons = [row?.error, field(row?.proposal_notes, 'failure'), row?.skipped, field(row?.metrics['selection'], 'reason')]
  return reasons.find((reason) => typeof reason === 'string') ?? null
}
