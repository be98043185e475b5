/** The program `svc-native`: one turn in this folder, or a command for the resident agent. */
import { showHiddenLine } from '@svc-ai/client/hidden'
import { lineOf } from '@svc-ai/agent/shared'
import { UsageError } from '@svc-ai/client/shared'
import { mountCommand, oneTurn, statusCommand, turnCommand, updateCommand } from './commands.ts'
import { harnessCommand, reportCommand } from './requests.ts'
import { serveCommand } from './serve.ts'
import { POLL_SECONDS_DEFAULT, TURN_SECONDS_DEFAULT } from './limits.ts'

/** What the commands are, in words. */
const USAGE = `Usage: svc-native -p <prompt>
       svc-native <command> [options]

An agent whose parts are all entries of a harness tree. With -p it takes one turn in the current folder: SVC_NATIVE_DIR names the folder
'native' of the harness, and the answer is all that is printed. The commands are about a resident agent, which serves one folder:

  serve --tree <dir> --scenario <name> --url <service_url>
                               run by the harness that the scenario serves, pulled into the folder
        --follow head|provisional|pinned
                                 go along with new releases, also with provisional ones, which are unproven, or change by 'mount' and 'update'
                                 alone (default pinned)
        --poll-interval <s>      how often to look for one (default ${POLL_SECONDS_DEFAULT})
        --turn-timeout <s>       the longest a turn may take (default ${TURN_SECONDS_DEFAULT})
        --self-tools             let the agent look at its harness, try changes and propose them
  turn -p <text>               take a turn in the current folder
        --session <name>         go on with this conversation
        --quiet                  do not tell what the agent does meanwhile
  status [--json]              which release it runs by
  mount <release>              change to this release
  update [--release <id>]      change to the served release; without a resident agent, pull it into the folder
        --provisional            to the provisional release where there is one: it is unproven
  harness '<request>'          ask for a change of the harness
        --wait                   until it is settled
        --timeout <s>            and no longer than that (default 1800)
        --json
  report --score <number>      tell the service how good the newest session was
        --feedback <text>  --per-receipt  --session <id>  --list  --json

All of them take --tree <dir>, the folder of the harness (default: the current one). 'update', 'harness' and 'report' ask the service that the
folder was last served for, or the one that --url and --scenario name. The token is read from SVC_TOKEN.

Exit status: 0 done, 1 failed, 2 not understood, 3 the turn ended without being completed, 4 gave up waiting.
`

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
  process.stderr.write(`svc-native: ${showHiddenLine(line)}\n`)
  return code
}
