/** The receipts of every session, on disk as they come: one file per session, which stays readable when the session is killed. */
import { createHash } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { appendFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive } from '@svc-ai/client/shared'
import { ignoring } from './failure.ts'
import { destinationOf } from './places.ts'
import { readIfThere } from './whole-file.ts'
import { mkdirpSync } from '@svc-ai/client/folders'

/** The first line of a session's file. */
export interface SessionHead {
  readonly url: string
  readonly scenario: string
  readonly adapter: string
  readonly release_id: string
  readonly session: string
  /** The harness it ran with; absent where there is but one. */
  readonly destination?: string
  readonly pid: number
  /** Seconds since the epoch. */
  readonly started_at: number
}

export interface CapturedSession extends SessionHead {
  /** The file, without its ending. */
  readonly path: string
  readonly isLive: boolean
  /** In the order they came, each once. */
  readonly receipts: readonly string[]
  /** Reports that were about to be sent, and whether the service has them. Their receipts are in no other. */
  readonly reports: readonly BegunReport[]
}

export interface BegunReport {
  readonly id: string
  readonly receipts: readonly string[]
  readonly isStored: boolean
}

export interface ReceiptCapture {
  /** On its way to the disk when this returns. Never throws: an agent's work is worth more than its receipt. */
  keep(receipt: string): void
  /** How many receipts could not be kept, and why the first. */
  readonly lost: { readonly count: number; readonly cause: unknown }
  close(): void
}

const FILE = /^[0-9a-f]{64}-\d{20}-[0-9a-f-]{36}\.jsonl$/
const ENDING = '.jsonl'
const REPORTED = '.reported'

/** The file is made with the first receipt: a session without any leaves nothing behind. */
export function openCapture(folder: string, head: SessionHead): ReceiptCapture {
  mkdirpSync(folder, { mode: 0o700 })
  const path = `${pathOf(folder, head)}${ENDING}`
  const lost: { count: number; cause: unknown } = { count: 0, cause: null }
  let file: number | null = null
  /** What goes before the next line: the head before the first, a line end after a line that was cut short. */
  let before = `${JSON.stringify(head)}\n`
  return {
    keep(receipt) {
      try {
        file ??= openSync(path, 'ax', 0o600)
        const line = Buffer.from(`${before}${JSON.stringify({ receipt })}\n`)
        if (writeSync(file, line) < line.length) throw new Error('there is no room left')
        before = ''
      } catch (error) {
        lost.cause ??= error
        lost.count += 1
        if (!before.startsWith('\n')) before = `\n${before}`
      }
    },
    lost,
    close: () => void (file === null || closeSync(file)),
  }
}

function pathOf(folder: string, { scenario, session, started_at }: SessionHead): string {
  const nanoseconds = BigInt(Math.round(started_at * 1e3)) * 1_000_000n
  return join(folder, `${prefixOf(scenario)}${String(nanoseconds).padStart(20, '0')}-${session}`)
}

const prefixOf = (scenario: string): string => `${createHash('sha256').update(scenario).digest('hex')}-`

type Origin = Pick<SessionHead, 'url' | 'scenario' | 'destination'>

/** The sessions of a scenario at a service, newest first: those of one harness, and those that do not say of which. */
export async function sessionsOf(folder: string, { url, scenario, destination }: Origin): Promise<readonly CapturedSession[]> {
  const names = (await readdir(folder).catch(ignoring('ENOENT'))) ?? []
  const mine = names.filter((name) => FILE.test(name) && name.startsWith(prefixOf(scenario))).toSorted()
  const sessions = await Promise.all(mine.toReversed().map((name) => readSession(join(folder, name.slice(0, -ENDING.length)))))
  const isOf = (session: CapturedSession): boolean =>
    session.url === url && session.scenario === scenario && (session.destination ?? destination) === destination
  return sessions.flatMap((session) => (session !== null && isOf(session) ? [session] : []))
}

/** Null for a file whose first line never got to the disk. */
async function readSession(path: string): Promise<CapturedSession | null> {
  const lines = linesOf(await readIfThere(`${path}${ENDING}`))
  const head = lines.find(isHead)
  if (head === undefined) return null
  const marks = linesOf(await readIfThere(`${path}${REPORTED}`))
  const stored = new Set(marks.map((mark) => mark['stored']))
  const begun = marks.flatMap(({ report, receipts }) => (typeof report === 'string' ? [{ id: report, receipts: texts(receipts) }] : []))
  return {
    ...head,
    // The folder may have been renamed since.
    ...(head.destination !== undefined && { destination: destinationOf(head.destination) }),
    path,
    isLive: isAlive(head.pid),
    receipts: [...new Set(texts(lines.map(({ receipt }) => receipt)))],
    reports: begun.map((report) => ({ ...report, isStored: stored.has(report.id) })),
  }
}

type Line = Readonly<Record<string, unknown>>

/** The objects of a file of lines. A line that was cut short is passed over. */
function linesOf(text: string | null): readonly Line[] {
  return (text ?? '').split('\n').flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line)
      return typeof value === 'object' && value !== null ? [{ ...value }] : []
    } catch {
      return []
    }
  })
}

/** The file is ours, and its first line is written whole: one field distinguishes it from the others. */
const isHead = (line: Line): line is Line & SessionHead => typeof line['session'] === 'string' && typeof line['pid'] === 'number'

const texts = (values: unknown): readonly string[] => (Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [])

/** What no report has taken yet. */
export function unreported({ receipts, reports }: CapturedSession): readonly string[] {
  const taken = new Set(reports.flatMap((report) => report.receipts))
  return receipts.filter((receipt) => !taken.has(receipt))
}

/** Whether anything of the session is left to report. */
export const isWaiting = (session: CapturedSession): boolean =>
  unreported(session).length > 0 || session.reports.some(({ isStored }) => !isStored)

/** Written before a report is sent: when its answer is lost, the same receipts go under the same id again and are stored once. */
export const markBegun = ({ path }: CapturedSession, { id, receipts }: Omit<BegunReport, 'isStored'>): Promise<void> =>
  mark(path, { report: id, receipts })

export const markStored = ({ path }: CapturedSession, id: string): Promise<void> => mark(path, { stored: id })

/** It begins with a line end, since the line before may have been cut short. */
const mark = (path: string, line: object): Promise<void> => appendFile(`${path}${REPORTED}`, `\n${JSON.stringify(line)}\n`, { mode: 0o600 })

/** A session that has ended and was reported whole is of no more use. The marks go last: without them it would be reported again. */
export async function forget({ path }: CapturedSession): Promise<void> {
  await rm(`${path}${ENDING}`, { force: true })
  await rm(`${path}${REPORTED}`, { force: true })
}

export const lockPath = (path: string): string => `${path}.lock`
