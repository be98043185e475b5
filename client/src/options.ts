/** The command line of `import`: every option checked before anything is opened. */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError } from './failure.ts'
import { COMMAND, PROGRESS_SUFFIX, TOKEN_VARIABLE } from './names.ts'

export interface ImportOptions {
  readonly file: string
  /** Without a trailing slash. */
  readonly url: string
  readonly scenario: string
  readonly batchRecordsMax: number
  readonly batchBytesMax: number
  readonly retries: number
  readonly progress: string
  readonly json: boolean
  readonly token: string | null
}

export const HELP = `Usage: ${COMMAND} import <file.jsonl> --url <service_url> --scenario <name> [options]

Sends existing records to a scenario of the service, in batches that are stored whole or not at all.
The file is UTF-8 with one envelope per line: {"agent_record_id": …, "request_type": "inference" or "report", "payload": {…}}.
Put an inference before the reports that reference it. Blank lines are skipped.

An import that stops, for whatever reason, goes on where it was when started again with the same arguments;
records are known by their ids, so nothing is stored twice. The file must not change in between.

Options:
  --url <url>              where the service answers, such as http://127.0.0.1:8900
  --scenario <name>        the scenario the records belong to
  --batch-size <n>         records per batch, 1 to 1000 (default 128)
  --max-batch-bytes <n>    bytes per batch, 128 to 1048575 (default 524288); a single line must fit
  --retries <n>            how often a batch is sent again when the service cannot be reached or is busy (default 3)
  --progress <path>        where the position in the file is kept (default <file.jsonl>${PROGRESS_SUFFIX})
  --json                   print the summary as one JSON object
  --help                   print this

Environment:
  ${TOKEN_VARIABLE}                the service's token, when it asks for one

Exit status: 0 everything is imported, 1 the import stopped, 2 the command was not understood.
`

const RETRIES_MAX = 1000

/** Null when help is what was asked for. */
export function parseOptions(argv: readonly string[], env: NodeJS.ProcessEnv): ImportOptions | null {
  const { values, positionals } = parse(argv)
  if (values.help === true) return null
  const [command, file, ...rest] = positionals
  if (command !== 'import')
    throw new UsageError(command === undefined ? 'say what to do: import' : `there is no command ${command}; the only one is import`)
  if (file === undefined || file === '') throw new UsageError('name the file to import')
  if (rest.length > 0) throw new UsageError(`one file at a time; ${rest[0]} is one too many`)
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
    json: values.json === true,
    token: token(env[TOKEN_VARIABLE]),
  }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        url: { type: 'string' },
        scenario: { type: 'string' },
        'batch-size': { type: 'string', default: '128' },
        'max-batch-bytes': { type: 'string', default: '524288' },
        retries: { type: 'string', default: '3' },
        progress: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** A url that carries more than a place would end up in the progress file, or be cut when the route is put after it. */
function serviceUrl(text: string | undefined): string {
  if (text === undefined) throw new UsageError('--url is missing: say where the service answers')
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new UsageError('--url must be an http or https address')
  if (url.username !== '' || url.password !== '') throw new UsageError(`--url must not carry credentials; set ${TOKEN_VARIABLE} instead`)
  if (/[?#]/.test(text)) throw new UsageError('--url must not carry a query or a fragment')
  return url.href.replace(/\/+$/, '')
}

function scenarioName(text: string | undefined): string {
  const name = text?.trim() ?? ''
  if (name === '') throw new UsageError('--scenario is missing: say which scenario the records belong to')
  if (/\p{Cc}/u.test(name)) throw new UsageError('--scenario must not hold control characters')
  return name
}

function wholeNumber(option: string, text: string, min: number, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new UsageError(`${option} must be a whole number from ${min} to ${max}`)
}

/** Checked here because a header that cannot be sent would be refused with the token in the message. */
function token(text: string | undefined): string | null {
  const value = text?.trim() ?? ''
  if (value === '') return null
  if (!/^[\x21-\x7e]+$/.test(value)) throw new UsageError(`${TOKEN_VARIABLE} holds characters that no token has`)
  return value
}
