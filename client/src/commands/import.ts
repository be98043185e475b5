/** `svc-client import`: a file of records to a scenario, in batches. */
import { resolve } from 'node:path'
import { UsageError } from '../failure.ts'
import { importFile } from '../import.ts'
import type { ImportOptions, ImportPace, Summary } from '../import.ts'
import { COMMAND, PROGRESS_SUFFIX } from '../names.ts'
import { COMMON, COMMON_HELP, onlyArgument, scenarioName, serviceUrl, tokenIn, readArguments, wholeNumber } from '../options.ts'
import type { Command } from './command.ts'

const HELP = `Usage: ${COMMAND} import <file.jsonl> --url <service_url> --scenario <name> [options]

Sends existing records to a scenario of the service, in batches that are stored whole or not at all.
The file is UTF-8 with one envelope per line: {"agent_record_id": …, "request_type": "inference" or "report", "payload": {…}}.
Put an inference before the reports that reference it. Blank lines are skipped.

An import that stops, for whatever reason, goes on where it was when started again with the same arguments;
records are known by their ids, so nothing is stored twice. The file must not change in between.
How far it is goes to standard error: a bar on a terminal, elsewhere a line at most every 5 seconds.

Options:
  --url <url>              where the service answers, such as http://127.0.0.1:8900
  --scenario <name>        the scenario the records belong to
  --batch-size <n>         records per batch, 1 to 1000 (default 128)
  --max-batch-bytes <n>    bytes per batch, 128 to 1048575 (default 524288); a single line must fit
  --retries <n>            how often a batch is sent again when the service cannot be reached or is busy (default 3)
  --progress <path>        where the position in the file is kept (default <file.jsonl>${PROGRESS_SUFFIX})
${COMMON_HELP}
Exit status: 0 everything is imported, 1 the import stopped, 2 the command was not understood.
`

const RETRIES_MAX = 1000

export interface ImportArguments extends ImportOptions {
  readonly json: boolean
}

export const importCommand = (pace: ImportPace): Command<ImportArguments> => ({
  help: HELP,
  parse: parseImport,
  about: ({ file, url, scenario, progress }) => ({ file, url, scenario, progress }),
  run: async (options, screen) => {
    const summary = await importFile(options, screen, pace)
    return { text: sentence(options, summary), data: { ...summary } }
  },
})

export function parseImport(argv: readonly string[], env: NodeJS.ProcessEnv): ImportArguments | null {
  const { values, positionals } = readArguments(argv, {
    ...COMMON,
    'batch-size': { type: 'string', default: '128' },
    'max-batch-bytes': { type: 'string', default: '524288' },
    retries: { type: 'string', default: '3' },
    progress: { type: 'string' },
  })
  if (values.help) return null
  const file = onlyArgument(positionals, 'the file to import')
  const progress = resolve(values.progress ?? `${file}${PROGRESS_SUFFIX}`)
  if (progress === resolve(file)) throw new UsageError('--progress must not name the file that is imported')
  return {
    file,
    url: serviceUrl(values.url),
    scenario: scenarioName(values.scenario),
    batchRecordsMax: wholeNumber('--batch-size', values['batch-size'], 1, 1000),
    batchBytesMax: wholeNumber('--max-batch-bytes', values['max-batch-bytes'], 128, 1_048_575),
    retries: wholeNumber('--retries', values.retries, 0, RETRIES_MAX),
    progress,
    json: values.json,
    token: tokenIn(env),
  }
}

function sentence({ file, scenario }: ImportOptions, { records, sent }: Summary): string {
  const before = records === sent ? '' : ` (${records - sent} of them by earlier runs)`
  return `${records} ${records === 1 ? 'record' : 'records'} of ${file} acknowledged for scenario ${scenario}${before}\n`
}
