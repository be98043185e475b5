/** `svc import reef`: imports the data of the original system, and reports what could not be imported. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { InvalidArgumentError, type Command } from 'commander'
import { ORIGINAL } from '../contract/index.ts'
import { showHiddenLine } from '../kit/index.ts'
import type { importFolders, ImportRequest } from '../main.ts'
import { counted, whole } from '../presentation/index.ts'
import { startBar } from './bar.ts'
import { loadFor } from './config.ts'
import { printError } from './explain.ts'
import { jsonText } from './screen/text.ts'
import { EXIT, type BindCommand, type ConfigOptions, type Surroundings } from './surroundings.ts'

interface ImportOptions extends ConfigOptions {
  readonly records: string
  readonly artifacts?: string
  readonly recipe?: string
  readonly rename?: ReadonlyMap<string, string>
  readonly dryRun?: boolean
}

type Report = Awaited<ReturnType<typeof importFolders>>
type Tally = Report['scenarios'][number]

const HELP = `
Stop both services first: the one that wrote the folders, and this one. The folders are read and never written.
Imported: scenarios, records with their ids, times and references, streamed answers assembled, reports, train requests,
what was consumed, every step with its metrics, releases with the entries of their harness, model settings without
keys. Releases get new ids; the row of a step keeps the old one under "imported". What a scenario served there is served
here until a person decides otherwise; what a review finds in it is printed, and holds the seed of the recipe beside it.
Left out, and said so: live weights, archived scenarios, keys, totals and digests of evicted records, records in PostgreSQL,
what a trainer knew beside the entries, waiting proposals, files of steps, generated tasks.
If interrupted, even by kill -9, run it again and it continues; a service does not start on an unfinished import.
Exit codes: 0 everything was imported, 1 something could not be imported, 2 it could not begin or was interrupted.

Example:
  svc import reef -c svc.yaml --records ${ORIGINAL.records} --artifacts ${ORIGINAL.artifacts} --dry-run`

export function addImportCommands(program: Command, run: BindCommand): void {
  const group = program.command('import').description('import data of another system')
  const reef = group.command('reef').description('import the data of the system reef into the configured folders')
  run<ImportOptions>(reef, importCommand)
    .usage('--records DIR --artifacts DIR [-c FILE] [--dry-run]')
    .requiredOption('--records <dir>', `its folder of records (storage.agent_record_dir there, by default ${ORIGINAL.records})`)
    .option('--artifacts <dir>', `its artifact repository (by default ${ORIGINAL.artifacts}); without it no releases are imported`)
    .option('-c, --config <file>', 'the configuration file (YAML) of this service')
    .option('--recipe <name>', 'the recipe of this configuration that the scenarios get (default: its default one)')
    .option('--rename <old=new>', 'another name for a scenario; may be given several times', renamed)
    .option('--dry-run', 'read and check everything, and write nothing')
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', HELP)
}

function renamed(text: string, before: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> {
  const at = text.lastIndexOf('=')
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError('It must be OLD=NEW.')
  return new Map([...before, [text.slice(0, at), text.slice(at + 1)]])
}

async function importCommand(options: ImportOptions, surroundings: Surroundings): Promise<number> {
  const missing = missingFolder(options)
  if (missing !== null) {
    surroundings.err(missing)
    return EXIT.misconfigured
  }
  const loaded = await loadFor(options, surroundings)
  const service = await surroundings.service()
  // Records and releases hold private text: only their owner may read them.
  process.umask(0o077)
  const bar = startBar(surroundings)
  let report: Report
  try {
    report = await service.importFolders(loaded, requestOf(options), bar.at)
  } catch (error) {
    printError(error, loaded, surroundings)
    return EXIT.misconfigured
  } finally {
    bar.end()
  }
  surroundings.out(options.json === true ? jsonText(report, 2) : printed(report))
  return report.remarks.some(({ kind }) => kind === 'problem') ? EXIT.failed : EXIT.fine
}

function missingFolder({ records, artifacts }: ImportOptions): string | null {
  for (const [option, path] of [
    ['--records', records] as const,
    ...(artifacts === undefined ? [] : [['--artifacts', artifacts] as const]),
  ]) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
      return `${option}: there is no folder ${showHiddenLine(resolve(path))}`
  }
  return null
}

function requestOf({ records, artifacts, recipe, rename, dryRun }: ImportOptions): ImportRequest {
  return {
    records: resolve(records),
    artifacts: artifacts === undefined ? null : resolve(artifacts),
    renames: rename ?? new Map(),
    recipe: recipe ?? null,
    isTrial: dryRun === true,
  }
}

const KIND_WORDS = { problem: 'NOT IMPORTED', left_out: 'left out', note: 'note' } as const satisfies Record<
  Report['remarks'][number]['kind'],
  string
>
const ELSEWHERE =
  'Outside these folders, and not imported: proposals that wait, files of steps, generated tasks. Keep evolution.proposals_dir, evolution.step_record_dir and state_dir of there.'
const KINDS = ['inference', 'report', 'train', 'steps', 'releases', 'consumed'] as const

function printed({ scenarios, remarks, dry_run: isTrial }: Report): string {
  const lines = scenarios.flatMap((tally) => tableOf(tally, isTrial))
  const remarkLines = remarks.map(({ scenario, kind, text }) => {
    const prefix = scenario === null ? '' : `${showHiddenLine(JSON.stringify(scenario))}: `
    return `${KIND_WORDS[kind]}  ${prefix}${showHiddenLine(text)}`
  })
  const missing = remarks.filter(({ kind }) => kind !== 'note').length
  const outcome = missing === 0 ? 'nothing is missing' : `${counted(missing, 'line')} above say what is missing`
  const what = isTrial ? 'could be imported; nothing was written' : 'imported'
  return [
    ...lines,
    ...remarkLines,
    ...(remarkLines.length > 0 ? [''] : []),
    ELSEWHERE,
    `${counted(scenarios.length, 'scenario')} ${what}: ${outcome}`,
  ].join('\n')
}

function tableOf({ scenario, imported_as: name, source, destination, served }: Tally, isTrial: boolean): readonly string[] {
  const title = `${showHiddenLine(JSON.stringify(scenario))}${name === scenario ? '' : ` as ${showHiddenLine(JSON.stringify(name))}`}`
  const rows = KINDS.map((kind) => {
    const here = isTrial ? '' : `  here ${whole(destination[kind]).padStart(9)}`
    return `  ${kind.padEnd(10)}  there ${whole(source[kind]).padStart(9)}${here}`
  })
  return [title, ...rows, `  serves      ${servedWords(served)}`, '']
}

function servedWords({ step, release_id: id, finding }: Tally['served']): string {
  if (id === null) return 'the seed of the recipe'
  const release = `release ${showHiddenLine(id)}, ${step === 0 ? 'which it began with' : `of step ${step}`}`
  return `${release}, as it was there${finding === null ? '' : '; a person decides (below)'}`
}
