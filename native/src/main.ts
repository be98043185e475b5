/** The program `svc-native`: one turn in this folder, or a command for the resident agent. */
import { lineOf } from '@svc-ai/agent/shared'
import { UsageError } from '@svc-ai/client/shared'
import { mountCommand, statusCommand, turnCommand, updateCommand } from './commands.ts'
import { oneTurn } from './one-turn.ts'
import { harnessCommand, reportCommand } from './requests.ts'
import { serveCommand } from './serve.ts'
import { USAGE } from './usage.ts'

type Command = (args: readonly string[], signal: AbortSignal) => Promise<number>

const COMMANDS: Readonly<Record<string, Command>> = {
  serve: serveCommand,
  turn: turnCommand,
  status: statusCommand,
  mount: mountCommand,
  update: updateCommand,
  harness: harnessCommand,
  report: reportCommand,
}
const NOT_UNDERSTOOD = 2
/** The first Node that reads TypeScript by itself, in which the tools of a tree may be written. */
const NODE_LEAST = [22, 18] as const

process.exitCode = await main(process.argv.slice(2))

async function main(argv: readonly string[]): Promise<number> {
  if (!isNewEnough()) return complain(`Node ${NODE_LEAST.join('.')} or newer is needed; this is ${process.versions.node}`, 1)
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => stop.abort(new Error(`stopped by ${name}`)))
  try {
    return await dispatch(argv, stop.signal)
  } catch (error) {
    if (error instanceof UsageError) return complain(`${error.message}; see 'svc-native --help'`, NOT_UNDERSTOOD)
    const line = lineOf(error)
    if (line === null && !stop.signal.aborted) throw error
    return complain(line ?? 'stopped', 1)
  }
}

function isNewEnough(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > NODE_LEAST[0] || (major === NODE_LEAST[0] && minor >= NODE_LEAST[1])
}

async function dispatch(argv: readonly string[], signal: AbortSignal): Promise<number> {
  const [word = '', ...rest] = argv
  // The prompt is the next word whatever it begins with.
  if (word === '-p') return oneTurn(rest, signal)
  const isHelp = [word, ...rest].some((each) => each === '--help' || each === '-h') || word === 'help'
  if (isHelp) {
    process.stdout.write(USAGE)
    return 0
  }
  const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined
  if (command === undefined) throw new UsageError(word === '' ? 'say what to do' : `there is no command ${word}`)
  return command(rest, signal)
}

function complain(line: string, code: number): number {
  process.stderr.write(`svc-native: ${line}\n`)
  return code
}
