/** `svc tail`: every record of a scenario as it is stored, until Ctrl-C. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceFailure, type RecordRow, type Svc } from '@svc-ai/client'
import { scoreText } from '../../presentation/index.ts'
import { paint, cut, jsonText, oneLine, shellWord } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { modelOf, tokensOf, tookOf } from './records.ts'
import { chooseScenario } from './scenario.ts'
import { isUnreached, untilStopped, withService } from './service.ts'

export interface TailOptions extends RemoteOptions {
  readonly interval: number
}

/** What is shown of the past, so that a quiet scenario shows something. */
const FIRST_ROWS = 10
const PAGE_ROWS = 100

export function tail(options: TailOptions, surroundings: Surroundings): Promise<number> {
  const stopped = new AbortController()
  surroundings.onStop(() => stopped.abort())
  return untilStopped(
    stopped.signal,
    withService(options, surroundings, async (service) => {
      const scenario = await chooseScenario(service, options.scenario, (name) => `tail ${shellWord(name)}`)
      await follow(service.in(scenario), { ...options, signal: stopped.signal }, surroundings)
      return EXIT.fine
    }),
  )
}

async function follow(svc: Svc, options: TailOptions & { readonly signal: AbortSignal }, surroundings: Surroundings): Promise<void> {
  const print = (rows: readonly RecordRow[]): void => {
    for (const row of options.signal.aborted ? [] : rows)
      surroundings.out(options.json === true ? jsonText(row) : lineOf(row, surroundings))
  }
  const last = (await svc.records({ order: 'newest', limit: FIRST_ROWS })).records.toReversed()
  print(last)
  let after = last.at(-1)?.sequence ?? 0
  let rows: readonly RecordRow[] | null = last
  while (!options.signal.aborted) {
    // A full page means there is more: waiting after each would fall behind for ever.
    if (rows?.length !== PAGE_ROWS) await sleep(options.interval * 1000, undefined, { signal: options.signal }).catch(() => undefined)
    const before: readonly RecordRow[] | null = rows
    rows = await since(svc, after)
    if (rows === null && before !== null) surroundings.err('the service does not answer; still trying')
    if (rows !== null && before === null) surroundings.err('the service answers again')
    print(rows ?? [])
    after = rows?.at(-1)?.sequence ?? after
  }
}

/** Null while the service does not answer: after a restart it goes on where it was. */
async function since(svc: Svc, after: number): Promise<readonly RecordRow[] | null> {
  try {
    return (await svc.records({ after_sequence: after, limit: PAGE_ROWS })).records
  } catch (error) {
    if (error instanceof ServiceFailure && (isUnreached(error) || Number(error.status) >= 500)) return null
    throw error
  }
}

const TYPE_CHARACTERS = 9
const TOOK_CHARACTERS = 8

/** No table: what comes next may be wider. */
function lineOf(row: RecordRow, surroundings: Surroundings): string {
  const time = new Date(row.created_at * 1000).toTimeString().slice(0, 8)
  const about = [
    row.score === null ? '' : `score ${scoreText(row.score)}`,
    row.references.map(oneLine).join(' '),
    modelOf(row),
    tokensOf(row),
  ]
  const facts = about.filter((text) => text !== '').join('  ')
  const head = `${oneLine(row.request_type).padEnd(TYPE_CHARACTERS)}  ${oneLine(row.agent_record_id)}  ${tookOf(row).padStart(TOOK_CHARACTERS)}`
  const text = cut(`${head}  ${facts}`.trimEnd(), surroundings.width - time.length - 2)
  return `${paint(time, 'quiet', surroundings)}  ${text}`
}
