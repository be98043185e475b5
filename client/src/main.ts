/** The command: its first word says what to do, and the rest is that command's. */
import { runCommand, type Streams } from './commands/command.ts'
import { pullCommand } from './commands/pull.ts'
import { reportCommand } from './commands/report.ts'
import { statusCommand } from './commands/status.ts'
import { showHiddenLine } from './hidden.ts'
import type { ImportPace } from './import.ts'
import { COMMAND } from './names.ts'

const HELP = `Usage: ${COMMAND} <command> [options]

  import    send a file of existing records to a scenario
  pull      write the harness that a scenario serves into a folder
  report    tell the service how exchanges went
  status    show the scenarios of a service

'${COMMAND} <command> --help' explains each. The token is read from SVC_TOKEN.

Exit status: 0 it went well, 1 it did not, 2 the command was not understood.
`

export async function main(argv: readonly string[], env: NodeJS.ProcessEnv, streams: Streams, pace: ImportPace = {}): Promise<number> {
  const [name = '', ...rest] = argv
  switch (name) {
    case 'import': {
      // Loaded here alone: its lock needs a newer Node than the other commands do.
      const { importCommand } = await import('./commands/import.ts')
      return runCommand(name, importCommand(pace), rest, env, streams)
    }
    case 'pull':
      return runCommand(name, pullCommand, rest, env, streams)
    case 'report':
      return runCommand(name, reportCommand, rest, env, streams)
    case 'status':
      return runCommand(name, statusCommand, rest, env, streams)
    case '--help':
    case '-h':
      streams.stdout.write(HELP)
      return 0
    default: {
      const problem = name === '' ? 'say what to do' : `there is no command ${showHiddenLine(name)}`
      streams.stderr.write(`${COMMAND}: ${problem}: import, pull, report or status\nTry '${COMMAND} --help'.\n`)
      return 2
    }
  }
}
