/** What a command is: arguments in, words and an exit status out. */
import { Failure, UsageError } from '../failure.ts'
import { hiddenAsJson, showHidden, showHiddenLine } from '../hidden.ts'
import { COMMAND } from '../names.ts'
import type { ProgressScreen } from '../progress.ts'

export interface Streams {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: ProgressScreen
}

/** The same outcome for people and for programs. */
interface Outcome {
  readonly text: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface Command<Options> {
  readonly help: string
  /** Null when help is what was asked for. Throws a `UsageError`. */
  readonly parse: (argv: readonly string[], env: NodeJS.ProcessEnv) => Options | null
  /** What the JSON outcome says first, whether it went well or not. Never the token. */
  readonly about: (options: Options) => Readonly<Record<string, unknown>>
  readonly run: (options: Options, screen: ProgressScreen) => Promise<Outcome>
}

/** 0 when it went well, 1 when it did not, 2 when it was not understood. */
export async function runCommand<Options extends { readonly json: boolean }>(
  name: string,
  command: Command<Options>,
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  streams: Streams,
): Promise<number> {
  let options: Options | null
  try {
    options = command.parse(argv, env)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    streams.stderr.write(`${COMMAND}: ${showHiddenLine(error.message)}\nTry '${COMMAND} ${name} --help'.\n`)
    return 2
  }
  if (options !== null) return tell(command, options, streams)
  streams.stdout.write(command.help)
  return 0
}

async function tell<Options extends { readonly json: boolean }>(
  { about, run }: Command<Options>,
  options: Options,
  { stdout, stderr }: Streams,
): Promise<number> {
  try {
    const { text, data } = await run(options, stderr)
    stdout.write(options.json ? printed({ ok: true, ...about(options), ...data }) : showHidden(text))
    return 0
  } catch (error) {
    const message = wordsOf(error)
    stderr.write(showHidden(`${COMMAND}: ${message}\n`))
    if (options.json) stdout.write(printed({ ok: false, ...about(options), error: message }))
    return 1
  }
}

const printed = (data: object): string => `${hiddenAsJson(JSON.stringify(data))}\n`

/** A failure of the system, such as a full disk, says enough by itself; anything else is a bug and keeps its stack. */
function wordsOf(error: unknown): string {
  if (error instanceof Failure || (error instanceof Error && 'syscall' in error)) return error.message
  throw error
}
