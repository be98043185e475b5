/** `report`: a person's score of a session, stored once for every receipt, however often it is sent. */
import { createHash } from 'node:crypto'
import { type Svc, Failure, ServiceFailure, scoreOf, readOptions, withNegativeScore } from '@svc-ai/client/shared'
import {
  forget,
  isWaiting,
  lockPath,
  markBegun,
  markStored,
  sessionsOf,
  unreported,
  type BegunReport,
  type CapturedSession,
} from './captures.ts'
import { capturesFolder, commandOf, homeOf } from './places.ts'
import { takeLock } from './process-lock.ts'
import { isInSession, serviceOf, SESSION, type Install } from './service.ts'
import type { Terminal } from './terminal.ts'

/** What the service takes in one report. */
const REFERENCES_MAX = 1000

interface Verdict {
  readonly score: number
  readonly feedback: string | null
}

/** 1 when the service kept an earlier verdict instead of this one, or does not know the receipts any more. */
export async function report(install: Install, args: readonly string[], terminal: Terminal): Promise<number> {
  const values = readOptions(withNegativeScore(args), {
    score: { type: 'string' },
    feedback: { type: 'string' },
    'per-receipt': { type: 'boolean', default: false },
    session: { type: 'string' },
    list: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  })
  const sessions = await sessionsOf(capturesFolder(homeOf(install.env)), install.record)
  if (values.list) return list(sessions, values.json, terminal)
  const verdict = { score: scoreOf(values.score), feedback: values.feedback ?? null }
  const chosen = chosenOf(install, sessions, values.session)
  const sent = await underLock(install, chosen, (session) => sendAll(install, session, verdict, values['per-receipt'] ? 1 : REFERENCES_MAX))
  await forgetDone(install)
  print(sent, values.json, terminal)
  return sent.conflicts.length + sent.unknown.length === 0 ? 0 : 1
}

/** Newest first. */
function list(sessions: readonly CapturedSession[], json: boolean, terminal: Terminal): number {
  const rows = sessions.map((session) => ({
    session: session.session,
    started_at: session.started_at,
    release_id: session.release_id,
    live: session.isLive,
    receipts: session.receipts.length,
    waiting: waiting(session).length,
  }))
  if (json) terminal.printJson({ sessions: rows })
  else if (rows.length === 0) terminal.print('no session has receipts')
  else
    for (const row of rows) {
      const started = new Date(row.started_at * 1000).toISOString().slice(0, 16).replace('T', ' ')
      const live = row.live ? '  (still running)' : ''
      terminal.print(`${row.session}  ${started}Z  ${receiptsOf(row.receipts)}, ${row.waiting} to report${live}`)
    }
  return 0
}

const receiptsOf = (count: number): string => `${count} ${count === 1 ? 'receipt' : 'receipts'}`

/** What the service is not known to have, in reports begun and in none. */
const waiting = (session: CapturedSession): readonly string[] => [
  ...session.reports.flatMap(({ isStored, receipts }) => (isStored ? [] : receipts)),
  ...unreported(session),
]

/** Without a name the session it is called in, else the newest, also when all of it is reported: an older one is never scored by a command given twice. */
function chosenOf({ record, env }: Install, sessions: readonly CapturedSession[], id: string | undefined): CapturedSession {
  const command = `'${commandOf(record.adapter)} report --list'`
  const wanted = id ?? (isInSession(record, env) ? env[SESSION.id] : undefined)
  const chosen = wanted === undefined ? sessions[0] : sessions.find(({ session }) => session === wanted)
  if (chosen !== undefined && isWaiting(chosen)) return chosen
  if (chosen !== undefined)
    throw new Failure(`session ${chosen.session} was already reported; --session names another, ${command} shows those there are`)
  if (id !== undefined) throw new Failure(`there is no session ${JSON.stringify(id)} with receipts; ${command} shows those there are`)
  throw new Failure(`there is nothing to report: run '${commandOf(record.adapter)}' first`)
}

/** Read again once it is ours: another report may have come first. */
async function underLock(install: Install, { path }: CapturedSession, then: (session: CapturedSession) => Promise<Sent>): Promise<Sent> {
  const lock = await takeLock(lockPath(path))
  if (lock === null)
    throw new Failure(`another report about this session is being sent; wait until it is done (if there is none, remove ${lockPath(path)})`)
  try {
    const session = (await sessionsOf(capturesFolder(homeOf(install.env)), install.record)).find((each) => each.path === path)
    if (session === undefined || !isWaiting(session)) throw new Failure('another report has just covered everything in this session')
    return await then(session)
  } finally {
    await lock.release()
  }
}

type Sent = Awaited<ReturnType<typeof sendAll>>

/** Reports whose answer was lost go first, with the receipts they were begun with: under the same id nothing is stored twice. */
async function sendAll(install: Install, session: CapturedSession, verdict: Verdict, sizeMax: number) {
  const service = await serviceOf(install)
  const begun = session.reports.filter(({ isStored }) => !isStored)
  const reports = [...begun, ...newReports(session, sizeMax)]
  const ends = new Map<string, SendEnd>()
  for (const each of reports) {
    if (!begun.includes(each)) await markBegun(session, each)
    ends.set(each.id, await send(service, session, verdict, each))
    await markStored(session, each.id)
  }
  const ending = (wanted: SendEnd): readonly string[] => [...ends].flatMap(([id, end]) => (end === wanted ? [id] : []))
  return {
    ...verdict,
    session,
    reports: reports.map(({ id }) => id),
    receipts: reports.flatMap(({ receipts }) => receipts).length,
    /** Reports that the service had already, with another verdict. */
    conflicts: ending('conflict'),
    /** Reports on unknown receipts, such as those of an archived scenario: they are set aside, so that later ones go on. */
    unknown: ending('unknown'),
  }
}

function newReports(session: CapturedSession, sizeMax: number): readonly BegunReport[] {
  const receipts = unreported(session)
  return Array.from({ length: Math.ceil(receipts.length / sizeMax) }, (_, index) => {
    const part = receipts.slice(index * sizeMax, (index + 1) * sizeMax)
    return { id: idOf(session.session, part), receipts: part, isStored: false }
  })
}

/** Of what is reported on and not of the verdict, so that a second verdict on the same receipts is refused instead of stored beside the first. */
const idOf = (session: string, receipts: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([session, ...receipts]))
    .digest('hex')

type SendEnd = 'stored' | 'conflict' | 'unknown'

async function send(service: Svc, session: CapturedSession, { score, feedback }: Verdict, { id, receipts }: BegunReport): Promise<SendEnd> {
  try {
    await service.report({
      agent_record_id: id,
      score,
      ...(feedback !== null && { feedback }),
      references: receipts,
      metadata: { client_release: session.release_id },
    })
    return 'stored'
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error
    if (error.status === 409) return 'conflict'
    if (error.code === 'unknown_reference') return 'unknown'
    throw error
  }
}

/** The newest stays, so that a second report about it is known to be one. */
async function forgetDone({ env, record }: Install): Promise<void> {
  const [, ...older] = await sessionsOf(capturesFolder(homeOf(env)), record)
  for (const session of older) if (!session.isLive && !isWaiting(session)) await forget(session)
}

function print({ session, score, receipts, reports, conflicts, unknown }: Sent, json: boolean, terminal: Terminal): void {
  const about = { session: session.session, live: session.isLive, score, receipts, reports, conflicts, unknown }
  if (json) return terminal.printJson(about)
  const live = session.isLive ? '; the session is still running, report again for what comes' : ''
  if (conflicts.length + unknown.length < reports.length)
    terminal.print(`score ${score} reported for ${receiptsOf(receipts)} of session ${session.session}${live}`)
  if (conflicts.length > 0)
    terminal.warn('an earlier report about the same receipts had reached the service; it stands, with its own score')
  if (unknown.length > 0)
    terminal.warn('the service does not know these receipts: was its scenario archived and made again? They are set aside')
}
