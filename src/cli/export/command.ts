/**
 * `svc export`: the records of scenarios, with their bodies as they are stored, in files of a bucket or a folder. A file is written once and
 * named after its records; the next run goes on behind the last one.
 */
import { hash } from 'node:crypto'
import type { RecordRow, Svc } from '@svc-ai/client'
import { conflict, invalid, type ObjectFolder } from '../../contract/index.ts'
import { counted } from '../../presentation/index.ts'
import { startBar } from '../bar.ts'
import { remoteConfig, type RemoteOptions } from '../remote/address.ts'
import { newestOf, recordLines } from '../remote/export.ts'
import { chooseScenario } from '../remote/scenario.ts'
import { withService, type RemoteService } from '../remote/service.ts'
import { jsonText, oneLine, shellWord } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import { emptyManifest, folderOf, ManifestBook, throughOf, type ExportedFile, type ExportedRange, type ExportFormat } from './manifest.ts'
import { openPlace } from './place.ts'
import { fileOf } from './rows.ts'

/** A file ends with the one that is reached first. */
const FILE_RECORDS_MAX = 5000
const FILE_BYTES_MAX = 16 * 1024 * 1024
const SEQUENCE_DIGITS = 12

export interface ExportOptions extends RemoteOptions {
  readonly to: string
  readonly format: ExportFormat
  /** Seconds since the epoch. */
  readonly since?: number
}

interface Exported {
  readonly scenario: string
  readonly folder: string
  /** Of this run. */
  readonly files: number
  readonly records: number
  readonly through_sequence: number
}

export function exportAll(options: ExportOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const place = await openPlace(options.to, await remoteConfig(options, surroundings.environment))
    const bar = startBar(surroundings)
    try {
      const done: Exported[] = []
      for (const scenario of await scenariosOf(service, options))
        done.push(await exportScenario({ svc: service.in(scenario), scenario, place, options, progress: bar.at }))
      bar.end()
      report(done, options, surroundings)
      return EXIT.fine
    } finally {
      bar.end()
      await place.close()
    }
  })
}

async function scenariosOf(service: RemoteService, { scenario: named }: ExportOptions): Promise<readonly string[]> {
  if (named !== undefined) return [await chooseScenario(service, named, (name) => `export --scenario ${shellWord(name)}`)]
  return (await service.svc.scenarios()).map(({ scenario }) => scenario)
}

interface Work {
  readonly svc: Svc
  readonly scenario: string
  readonly place: ObjectFolder
  readonly options: ExportOptions
  readonly progress: (done: number, total: number) => void
}

async function exportScenario(work: Work): Promise<Exported> {
  const { svc, scenario, place, options, progress } = work
  const folder = folderOf(scenario)
  const book = await ManifestBook.open(place, folder)
  if (book.value === null) await book.write(emptyManifest(scenario, options.format, await startOf(svc, options.since)))
  const begun = book.value ?? emptyManifest(scenario, options.format, 0)
  if (begun.files_are !== options.format)
    throw invalid(
      'other_format',
      `${oneLine(scenario)} was exported there as ${begun.files_are}: name another place, or --format ${begun.files_are}`,
    )
  await requireSame(svc, throughOf(begun), begun.last_record_id, scenario)
  const total = await newestOf(svc)
  let [files, records] = [0, 0]
  for await (const { lines, range, lastId } of ranges(svc, scenario, throughOf(begun), begun.writing, total)) {
    const before = book.value ?? begun
    await book.write({ ...before, writing: range })
    const file = await writeFile(work, folder, range, fileOf(options.format, lines))
    await book.write({ ...before, writing: null, last_record_id: lastId, files: [...before.files, { ...file, records: lines.length }] })
    files += 1
    records += lines.length
    progress(range.last, total)
  }
  return { scenario, folder, files, records, through_sequence: throughOf(book.value ?? begun) }
}

/** One that is there already was written by a run that was killed, of the same records. */
async function writeFile(work: Work, folder: string, range: ExportedRange, bytes: Buffer): Promise<Omit<ExportedFile, 'records'>> {
  const name = `records-${digits(range.first)}-${digits(range.last)}.${work.options.format}`
  const isWritten = await work.place.create(`${folder}/${name}`, bytes)
  const kept = isWritten ? bytes : ((await work.place.get(`${folder}/${name}`))?.bytes ?? bytes)
  return { name, ...range, bytes: kept.length, sha256: hash('sha256', kept) }
}

const digits = (sequence: number): string => String(sequence).padStart(SEQUENCE_DIGITS, '0')

interface Lines {
  readonly lines: readonly string[]
  readonly range: ExportedRange
  readonly lastId: string
}

/** The range that a killed run was about to write comes first, as it was. What is stored meanwhile is for the next run. */
async function* ranges(svc: Svc, scenario: string, after: number, writing: ExportedRange | null, total: number): AsyncGenerator<Lines> {
  let lines: string[] = []
  let bytes = 0
  for await (const page of recordLines(svc, scenario, after)) {
    for (const line of page.lines.split('\n').filter((text) => text !== '')) {
      lines.push(`${line}\n`)
      bytes += Buffer.byteLength(line) + 1
      const row = rowIn(line)
      if (row.sequence > total && row.sequence !== writing?.last) return
      const isBegun = writing !== null && row.sequence <= writing.last
      const isFull = isBegun ? row.sequence === writing.last : lines.length >= FILE_RECORDS_MAX || bytes >= FILE_BYTES_MAX
      if (!isFull && row.sequence !== total) continue
      if (isBegun && row.sequence !== writing.last) continue
      yield { lines, range: { first: row.sequence - lines.length + 1, last: row.sequence }, lastId: row.agent_record_id }
      lines = []
      bytes = 0
    }
    if (page.through >= total) return
  }
}

function rowIn(line: string): RecordRow {
  const row: RecordRow = JSON.parse(line)
  return row
}

/** The sequence before the first record of that time or later. */
async function startOf(svc: Svc, since: number | undefined): Promise<number> {
  if (since === undefined) return 0
  let [low, high] = [0, await newestOf(svc)]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [row] = (await svc.records({ after_sequence: middle, limit: 1 })).records
    if (row !== undefined && row.created_at < since) low = middle + 1
    else high = middle
  }
  return low
}

async function requireSame(svc: Svc, through: number, lastId: string | null, scenario: string): Promise<void> {
  if (lastId === null) return
  const [row] = (await svc.records({ after_sequence: through - 1, limit: 1 })).records
  if (row?.agent_record_id !== lastId)
    throw conflict('other_export', `what was exported there is of another scenario named ${oneLine(scenario)}: name another place`)
}

function report(done: readonly Exported[], { to, format, json }: ExportOptions, { out }: Surroundings): void {
  const records = done.reduce((sum, each) => sum + each.records, 0)
  if (json === true) return out(jsonText({ to, format, records, scenarios: done }, 2))
  for (const { scenario, records: own, files, through_sequence } of done)
    out(`${oneLine(scenario)}: ${counted(own, 'record')} in ${counted(files, 'file')}, up to ${through_sequence}`)
  out(`${counted(records, 'record')} written to ${shellWord(to)}`)
}
