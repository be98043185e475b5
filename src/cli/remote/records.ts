/** `svc records`: the newest records of a scenario, one of them to read, or all of them as a file. */
import { ServiceFailure, type FullRecord, type ListedRecord, type RecordRow, type Svc } from '@svc-ai/client'
import { stringify } from 'yaml'
import { unknown } from '../../contract/index.ts'
import { ago, counted, duration, moneyText, scoreText, whole } from '../../presentation/index.ts'
import { table, type Cell, type TableColumn } from '../screen/table.ts'
import { cut, jsonText, oneLine, shellWord, shownLines, paint } from '../screen/text.ts'
import { EXIT, type Surroundings, type ConfigOptions } from '../surroundings.ts'
import { exportRecords } from './export.ts'
import type { RemoteOptions } from './address.ts'
import { shortId } from './release.ts'
import { chooseScenario } from './scenario.ts'
import { withService } from './service.ts'

export interface RecordsOptions extends RemoteOptions {
  readonly type?: RecordRow['request_type']
  readonly number: number
  readonly id?: string
  readonly export?: string
}

const PAGE_ROWS = 100

export function records(options: RecordsOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const scenario = await chooseScenario(
      service,
      options.scenario,
      (name) => `records ${shellWord(name)}${options.id === undefined ? '' : ` --id ${shellWord(options.id)}`}`,
    )
    const svc = service.in(scenario)
    if (options.id !== undefined) {
      const next = service.command(`records ${shellWord(scenario)}`)
      return showRecord(await oneRecord(svc, options.id, next), options, surroundings)
    }
    if (options.export !== undefined) return exportRecords(svc, { ...options, scenario, file: options.export }, surroundings)
    const rows = await newest(svc, options)
    if (options.json === true) surroundings.out(jsonText({ scenario, records: rows }, 2))
    else if (rows.length === 0) surroundings.out(`${oneLine(scenario)} holds no such record yet`)
    else surroundings.out(listing(rows, surroundings))
    return EXIT.fine
  })
}

/** By its id, or else by its number. */
async function oneRecord(svc: Svc, id: string, next: string): Promise<FullRecord> {
  try {
    return await svc.record(id)
  } catch (error) {
    if (!(error instanceof ServiceFailure) || error.status !== 404) throw error
    const numbered = error.code === 'unknown_record' && /^[1-9]\d{0,14}$/.test(id) ? await idOfNumber(svc, Number(id)) : null
    if (numbered !== null) return svc.record(numbered)
    throw unknown('unknown_record', `${error.message}; see those that are: ${next}`)
  }
}

async function idOfNumber(svc: Svc, sequence: number): Promise<string | null> {
  const { records: found } = await svc.records({ after_sequence: sequence - 1, limit: 1 })
  return found.find((row) => row.sequence === sequence)?.agent_record_id ?? null
}

async function newest(svc: Svc, { number, type }: RecordsOptions): Promise<readonly ListedRecord[]> {
  const rows: ListedRecord[] = []
  let before: number | null = null
  do {
    const limit = Math.min(PAGE_ROWS, number - rows.length)
    const page = await svc.records({
      order: 'newest',
      limit,
      excerpts: 'yes',
      ...(type && { request_type: type }),
      ...(before !== null && { before_sequence: before }),
    })
    rows.push(...page.records)
    before = page.next
  } while (before !== null && rows.length < number)
  return rows
}

const COLUMNS: readonly TableColumn[] = [
  { title: '#', isNumber: true },
  { title: 'ID', least: 8 },
  { title: 'TYPE' },
  { title: 'WHEN', isNumber: true },
  { title: 'INPUT', least: 16 },
  { title: 'OUTPUT', least: 16 },
  { title: 'SCORE', isNumber: true },
  { title: 'COST', isNumber: true },
  { title: 'TOOK', isNumber: true },
  { title: 'MODEL', least: 8 },
  { title: 'TOKENS', isNumber: true },
  { title: 'ABOUT', isNumber: true },
  { title: 'RELEASE', least: 8 },
  { title: 'TAGS', least: 8 },
]

export function listing(rows: readonly ListedRecord[], surroundings: Surroundings): string {
  return table(COLUMNS, rows.map(cellsOf), surroundings)
}

function cellsOf(row: ListedRecord): readonly Cell[] {
  const { input = '', output = '', tags = {}, score = row.score, cost } = row.excerpt ?? {}
  return [
    String(row.sequence),
    oneLine(row.agent_record_id),
    oneLine(row.request_type),
    ago(row.created_at),
    firstWords(input),
    firstWords(output),
    score === null ? '' : scoreText(score),
    cost === undefined ? '' : moneyText(cost),
    tookOf(row),
    modelOf(row),
    tokensOf(row),
    row.references.length === 0 ? '' : counted(row.references.length, 'record'),
    row.artifact_ref === null ? '' : shortId(row.artifact_ref),
    tagsText(tags),
  ]
}

const WORDS_CHARACTERS_MAX = 60

/** Without a terminal nothing else would cut them. */
const firstWords = (text: string): string => cut(oneLine(text), WORDS_CHARACTERS_MAX)

const tagsText = (tags: Readonly<Record<string, string>>): string =>
  Object.entries(tags)
    .map(([name, value]) => `${oneLine(name)}:${oneLine(value)}`)
    .join(' ')

function showRecord(record: FullRecord, { json }: Pick<ConfigOptions, 'json'>, surroundings: Surroundings): number {
  surroundings.out(json === true ? jsonText(record, 2) : recordText(record, surroundings))
  return EXIT.fine
}

/** One record to read: what it is in a few lines, then all that was stored, long texts as the lines they are. */
export function recordText(record: FullRecord, surroundings: Surroundings): string {
  const known = factsOf(record).filter(([, text]) => text !== '')
  const facts = known.map(([name, text]) => `${paint(name.padEnd(8), 'quiet', surroundings)}  ${text}`)
  return [...facts, '', readable(record.payload)].join('\n')
}

function factsOf(record: FullRecord): readonly (readonly [name: string, text: string])[] {
  return [
    ['record', oneLine(record.agent_record_id)],
    ['number', String(record.sequence)],
    ['type', oneLine(record.request_type)],
    ['stored', `${new Date(record.created_at * 1000).toISOString()} (${ago(record.created_at)})`],
    ['model', modelOf(record)],
    ['took', tookOf(record)],
    ['tokens', tokensOf(record)],
    ['score', record.score === null ? '' : String(record.score)],
    ['about', record.references.map(oneLine).join(', ')],
    ['release', record.artifact_ref === null ? '' : oneLine(record.artifact_ref)],
  ]
}

const readable = (payload: FullRecord['payload']): string =>
  shownLines(stringify(payload, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd())

export const tookOf = ({ summary }: RecordRow): string => (summary === undefined ? '' : duration(summary.latency_ms / 1000))

/** A stream that broke off was stored as far as it came. */
export function modelOf({ summary }: RecordRow): string {
  return [oneLine(summary?.model ?? ''), ...(summary?.complete === false ? ['(broken off)'] : [])].join(' ').trim()
}

export function tokensOf({ summary }: RecordRow): string {
  const { input_tokens: input, output_tokens: output } = summary ?? {}
  if (input === undefined && output === undefined) return ''
  return `${input === undefined ? '?' : whole(input)} → ${output === undefined ? '?' : whole(output)}`
}
