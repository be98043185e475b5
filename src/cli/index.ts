/**
 * Cli: one file per command; words, tables and exit codes for people.
 * Does not hold a rule of the service: it asks the configuration, the composed service or its store, and says what they answer.
 */
import { createInterface } from 'node:readline'
import { isatty } from 'node:tty'
import { examineParts } from './doctor-parts.ts'
import { runCli } from './program.ts'
import { wantsColours } from './surroundings.ts'
import type { Surroundings } from './surroundings.ts'

/** How long whatever is still open after a command's end may keep the process. */
const LINGER_MILLISECONDS = 2000
/** Of a terminal that does not say how wide it is. */
const WIDTH_UNKNOWN = 80

/** Runs the command the process was started with. */
export async function main(): Promise<void> {
  process.stdout.on('error', endOnClosedPipe)
  process.exitCode = await runCli(process.argv.slice(2), surroundingsOfProcess())
  setTimeout(() => process.exit(), LINGER_MILLISECONDS).unref()
}

/** Whoever reads our output may stop reading (`svc config schema | head`); that is no failure. A terminal that was closed says so by a signal. */
function endOnClosedPipe(error: Error): void {
  if ('code' in error && error.code === 'EPIPE') process.exit()
  if ('code' in error && error.code === 'EIO') return
  throw error
}

function surroundingsOfProcess(): Surroundings {
  const isTerminal = process.stdout.isTTY
  // Asked now: one that was closed is none any more.
  const hasTerminal = [0, 1, 2].some((stream) => isatty(stream))
  return {
    environment: process.env,
    isTerminal,
    width: isTerminal ? process.stdout.columns || WIDTH_UNKNOWN : Infinity,
    colours: wantsColours(process.env, isTerminal),
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`svc: ${line}\n`),
    progress: (text) => {
      if (process.stderr.isTTY && process.env['TERM'] !== 'dumb') process.stderr.write(`\r\u001B[2K${text}`)
    },
    ask,
    house: () => import('../main.ts'),
    parts: examineParts,
    onStop: (listener) => {
      process.on('SIGINT', listener)
      process.on('SIGTERM', listener)
      // Node forgets that nohup had it ignored. Where no terminal is, as under nohup, none was closed that anybody worked in.
      process.on('SIGHUP', hasTerminal ? listener : () => undefined)
    },
    exitNow: (code) => process.exit(code),
  }
}

/** On standard error, since standard output may be read by a program. Ctrl-C and Ctrl-D are no answer. */
function ask(question: string): Promise<string | null> {
  if (!process.stdin.isTTY) return Promise.resolve(null)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  return new Promise((resolve) => {
    lines.once('close', () => resolve(null))
    lines.question(question, (line) => {
      resolve(line)
      lines.close()
    })
  })
}
