/** `svc search`: records that say something, or that were scored, tagged or answered in a certain way. */
import { ServiceFailure, type ListedRecord, type RecordSearchQuery, type Svc } from '@svc-ai/client'
import { unsupported } from '../../contract/index.ts'
import { counted } from '../../presentation/index.ts'
import { jsonText, oneLine, shellWord } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { listing } from './records.ts'
import { findRelease } from './release.ts'
import { chooseScenario } from './scenario.ts'
import { withService, type RemoteService } from './service.ts'

export interface SearchOptions extends RemoteOptions {
  readonly words?: readonly string[]
  readonly type?: NonNullable<RecordSearchQuery['request_type']>
  readonly model?: string
  readonly release?: string
  readonly tag?: readonly string[]
  readonly status?: 'complete' | 'broken-off'
  readonly minScore?: number
  readonly maxScore?: number
  readonly since?: number
  readonly until?: number
  readonly number: number
}

const PAGE_ROWS = 100

export function search(options: SearchOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const words = (options.words ?? []).join(' ')
    const scenario = await chooseScenario(service, options.scenario, (name) => `search ${shellWord(words)} --scenario ${shellWord(name)}`)
    const svc = service.in(scenario)
    const { rows, waiting } = await findAll(svc, await queryOf(options, words, svc, service, scenario), options.number, service, scenario)
    if (options.json === true) surroundings.out(jsonText({ scenario, records: rows, waiting }, 2))
    else if (rows.length === 0) surroundings.out(`nothing was found in ${oneLine(scenario)}`)
    else surroundings.out(listing(rows, surroundings))
    if (waiting > 0) surroundings.err(`${counted(waiting, 'record')} cannot be found yet; search again in a while`)
    return EXIT.fine
  })
}

async function queryOf(
  { type, model, release, tag, status, minScore, maxScore, since, until }: SearchOptions,
  text: string,
  svc: Svc,
  service: RemoteService,
  scenario: string,
): Promise<RecordSearchQuery> {
  const served =
    release === undefined ? undefined : findRelease(await svc.releases(), release, service.command(`releases ${shellWord(scenario)}`))
  return {
    ...(text !== '' && { text }),
    ...(type !== undefined && { request_type: type }),
    ...(model !== undefined && { model }),
    ...(served !== undefined && { release_id: served.release_id }),
    ...(tag !== undefined && { tag }),
    ...(status !== undefined && { status: status === 'complete' ? 'complete' : 'broken_off' }),
    ...(minScore !== undefined && { min_score: minScore }),
    ...(maxScore !== undefined && { max_score: maxScore }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  }
}

interface FoundAll {
  readonly rows: readonly ListedRecord[]
  readonly waiting: number
}

async function findAll(svc: Svc, query: RecordSearchQuery, number: number, service: RemoteService, scenario: string): Promise<FoundAll> {
  const rows: ListedRecord[] = []
  let from: Pick<RecordSearchQuery, 'before_sequence'> = {}
  for (;;) {
    const page = await svc.search({ ...query, ...from, limit: Math.min(PAGE_ROWS, number - rows.length) }).catch((error: unknown) => {
      throw error instanceof ServiceFailure && error.status === 501 ? cannotSearch(error, service, scenario) : error
    })
    rows.push(...page.records)
    if (page.next === null || rows.length >= number) return { rows, waiting: page.waiting }
    from = { before_sequence: page.next }
  }
}

const cannotSearch = ({ message }: ServiceFailure, service: RemoteService, scenario: string): Error =>
  unsupported('search_unsupported', `${message}: ${service.command(`records ${shellWord(scenario)}`)}`)
