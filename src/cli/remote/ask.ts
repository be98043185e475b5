/** `svc ask`: a person's request for a change, followed to its result. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceFailure, type ReleaseRow, type RequestProgress, type Svc, type TrainReceipt } from '@svc-ai/client'
import { conflict, invalid, unknown } from '../../contract/index.ts'
import { anotherTry, anotherTryText, madeRelease, requestStatus, stepName, stepView } from '../../presentation/index.ts'
import { powerLines } from '../screen/powers.ts'
import { cut, jsonText, oneLine, shellWord } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { findRelease, handleOf, numberOf, servedRow, shortId } from './release.ts'
import { promoteCommand, rejectCommand } from './releases.ts'
import { chooseScenario } from './scenario.ts'
import { isUnreached, untilStopped, withService, type RemoteService } from './service.ts'

export interface AskOptions extends RemoteOptions {
  readonly text: readonly string[]
  /** A rejected release that this is another try of. */
  readonly again?: string
  readonly wait: boolean
  readonly interval: number
}

export function ask(options: AskOptions, surroundings: Surroundings): Promise<number> {
  const stopped = new AbortController()
  surroundings.onStop(() => stopped.abort())
  const work = withService(options, surroundings, async (service) => {
    const words = oneLine(options.text.join(' '))
    const scenario = await chooseScenario(service, options.scenario, (name) => `ask ${shellWord(words)} --scenario ${shellWord(name)}`)
    const svc = service.in(scenario)
    const rows = await svc.releases()
    const served = servedRow(rows)
    if (served === undefined) throw unknown('nothing_served', `${oneLine(scenario)} serves nothing that could be changed`)
    const text = requestText(options, rows, service.command(`releases ${shellWord(scenario)}`))
    const filed = await svc.train({ text, session: `terminal-${randomUUID()}`, release_id: served.release_id })
    return afterwards({ service, svc, scenario, filed, options, surroundings, signal: stopped.signal })
  })
  return untilStopped(stopped.signal, work)
}

/** The person's words; before them, for another try, what was rejected and why. */
function requestText({ text: words, again }: AskOptions, rows: readonly ReleaseRow[], list: string): string {
  const said = words.join(' ').trim()
  if (again === undefined) {
    if (said === '') throw invalid('nothing_asked', 'say what should be different: svc ask "…"')
    return said
  }
  const row = findRelease(rows, again, list)
  const about = anotherTry(rows, row)
  if (about === null) throw conflict('not_rejected', `${numberOf(row)} was not rejected, so there is nothing to try again; see: ${list}`)
  return anotherTryText(about, said, row)
}

interface Asked {
  readonly service: RemoteService
  readonly svc: Svc
  readonly scenario: string
  readonly filed: TrainReceipt
  readonly options: AskOptions
  readonly surroundings: Surroundings
  readonly signal: AbortSignal
}

async function afterwards(asked: Asked): Promise<number> {
  const { service, svc, filed, options, surroundings } = asked
  const id = filed.agent_record_id
  const page_url = service.url + filed.page_path
  const isJson = options.json === true
  if (!isJson) surroundings.out(`request ${oneLine(id)} is filed: ${page_url}`)
  if (!options.wait) {
    if (isJson) surroundings.out(jsonText({ ...filed, page_url }, 2))
    return EXIT.fine
  }
  const settled = await followed(asked)
  surroundings.progress('')
  if (settled === null) return EXIT.fine
  const rows = await svc.releases()
  const row = rows.find(({ step }) => step === settled.step)
  if (isJson) surroundings.out(jsonText({ ...filed, page_url, ...settled, release: row ?? null }, 2))
  else surroundings.out(row === undefined ? requestStatus(settled.state).word : resultText(asked, row, rows))
  return settled.state === 'published' || settled.state === 'pending' ? EXIT.fine : EXIT.failed
}

/** Null when the person left before the end. A service that is started anew goes on with the request. */
async function followed({ svc, filed, options, surroundings, signal }: Asked): Promise<RequestProgress | null> {
  while (!signal.aborted) {
    const seen = await progressOf(svc, filed.agent_record_id)
    if (seen?.settled === true) return seen
    const line = seen === null ? 'the service does not answer; still trying' : progressLine(seen)
    surroundings.progress(cut(oneLine(line), Math.min(surroundings.width, PROGRESS_CHARACTERS_MAX) - 1))
    await sleep(options.interval * 1000, undefined, { signal }).catch(() => undefined)
  }
  return null
}
const PROGRESS_CHARACTERS_MAX = 200

async function progressOf(svc: Svc, id: string): Promise<RequestProgress | null> {
  try {
    return await svc.progress(id)
  } catch (error) {
    if (error instanceof ServiceFailure && (isUnreached(error) || Number(error.status) >= 500)) return null
    throw error
  }
}

function progressLine({ state, meaning, activity }: RequestProgress): string {
  const last = activity.at(-1)
  return [requestStatus(state).word, meaning, last?.text].filter((text) => text !== null && text !== undefined && text !== '').join(': ')
}

/** What came of it, what it may do, and what to type next. */
function resultText({ service, scenario, surroundings }: Asked, row: ReleaseRow, rows: readonly ReleaseRow[]): string {
  const { status, headline, decision, powers } = stepView(row, { rows, nameOf: stepName })
  const release = madeRelease(row) ? ` ${shortId(row.release_id)}` : ''
  const command = (words: string): string => service.command(`${words} ${shellWord(handleOf(row))} --scenario ${shellWord(scenario)}`)
  return [
    `${oneLine(scenario)} ${stepName(row)}${release}: ${status.word.toLowerCase()}. ${status.meaning}`,
    ...(headline === null ? [] : [`${oneLine(headline)}.`]),
    ...(decision === null ? [] : [oneLine(decision)]),
    ...(powers === null ? [] : powerLines(powers, surroundings)),
    `look at it: ${command('show')}`,
    ...(row.pending
      ? [`serve it: ${promoteCommand(row, scenario, service.command)}`, `turn it down: ${rejectCommand(row, scenario, service.command)}`]
      : []),
  ].join('\n')
}
