/** The command: arguments in, words and an exit status out. */
import { ImportFailure, UsageError } from './failure.ts'
import { importFile } from './import.ts'
import type { Pace, Summary } from './import.ts'
import { COMMAND } from './names.ts'
import { HELP, parseOptions } from './options.ts'
import type { ImportOptions } from './options.ts'
import type { Screen } from './progress.ts'

export interface Streams {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: Screen
}

export async function main(argv: readonly string[], env: NodeJS.ProcessEnv, streams: Streams, pace: Pace = {}): Promise<number> {
  let options: ImportOptions | null
  try {
    options = parseOptions(argv, env)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    streams.stderr.write(`${COMMAND}: ${error.message}\nTry '${COMMAND} --help'.\n`)
    return 2
  }
  if (options === null) {
    streams.stdout.write(HELP)
    return 0
  }
  return runImport(options, streams, pace)
}

async function runImport(options: ImportOptions, { stdout, stderr }: Streams, pace: Pace): Promise<number> {
  try {
    const summary = await importFile(options, stderr, pace)
    stdout.write(options.json ? `${JSON.stringify({ ok: true, ...about(options), ...summary })}\n` : sentence(options, summary))
    return 0
  } catch (error) {
    const message = wordsOf(error)
    stderr.write(`${COMMAND}: ${message}\n`)
    if (options.json) stdout.write(`${JSON.stringify({ ok: false, ...about(options), error: message })}\n`)
    return 1
  }
}

/** A failure of the system, such as a full disk, says enough by itself; anything else is a bug and keeps its stack. */
function wordsOf(error: unknown): string {
  if (error instanceof ImportFailure || (error instanceof Error && 'syscall' in error)) return error.message
  throw error
}

const about = ({ file, url, scenario, progress }: ImportOptions): Record<string, string> => ({ file, url, scenario, progress })

function sentence(options: ImportOptions, { records, sent }: Summary): string {
  const before = records === sent ? '' : ` (${records - sent} of them by earlier runs)`
  return `${records} ${records === 1 ? 'record' : 'records'} of ${options.file} acknowledged for scenario ${options.scenario}${before}\n`
}
