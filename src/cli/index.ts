/**
 * Cli: one file per command; messages, tables and exit codes for people.
 * Does not hold a rule of the service: it asks the configuration, the composed service or its store, and prints the answer.
 */
import { createInterface } from 'node:readline'
import { isatty } from 'node:tty'
import { browse } from './browser.ts'
import { examineParts } from './doctor-parts.ts'
import { page } from './pager.ts'
import { runCli } from './program.ts'
import { cut } from './screen/text.ts'
import { wantsColours, type Surroundings } from './surroundings.ts'

/** How long open handles may keep the process after a command's end. */
const LINGER_MILLISECONDS = 2000
/** For a terminal that does not report its width. */
const WIDTH_UNKNOWN = 80

export async function main(): Promise<void> {
  process.stdout.on('error', endOnClosedPipe)
  process.exitCode = await runCli(process.argv.slice(2), surroundingsOfProcess())
  setTimeout(() => process.exit(), LINGER_MILLISECONDS).unref()
}

/** A reader may close our output (`svc config schema | head`); that is not a failure. A closed terminal sends a signal. */
function endOnClosedPipe(error: Error): void {
  if ('code' in error && error.code === 'EPIPE') process.exit()
  if ('code' in error && error.code === 'EIO') return
  throw error
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

function surroundingsOfProcess(): Surroundings {
  const isTerminal = process.stdout.isTTY
  // Checked now: a closed terminal no longer counts.
  const hasTerminal = [0, 1, 2].some((stream) => isatty(stream))
  return {
    environment: process.env,
    isTerminal,
    width: isTerminal ? process.stdout.columns || WIDTH_UNKNOWN : Infinity,
    height: () => (isTerminal && process.stdout.rows) || Infinity,
    colours: wantsColours(process.env, isTerminal),
    out: print,
    page: (text) => page(text, { rows: isTerminal ? process.stdout.rows : 0, environment: process.env, print }),
    err: (line) => process.stderr.write(`svc: ${line}\n`),
    progress: (text) => {
      const { isTTY, columns } = process.stderr
      // What wraps cannot be drawn over.
      if (isTTY && process.env['TERM'] !== 'dumb') process.stderr.write(`\r\u001B[2K${cut(text, (columns || WIDTH_UNKNOWN) - 1)}`)
    },
    ask,
    browse: (url) => browse(url, process.env),
    service: () => import('../main.ts'),
    parts: examineParts,
    onStop: (listener) => {
      process.on('SIGINT', listener)
      process.on('SIGTERM', listener)
      // Node forgets that nohup ignored SIGHUP. Without a terminal, as under nohup, the signal ends nothing.
      process.on('SIGHUP', hasTerminal ? listener : () => undefined)
    },
    onReload: (listener) => {
      if (!hasTerminal) process.on('SIGHUP', listener)
    },
    exitNow: (code) => process.exit(code),
  }
}

/** On standard error, since a program may read standard output. Ctrl-C and Ctrl-D are no answer. */
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
