/** The program that an install script feeds to Node, and that `svc-<adapter>` runs from then on: one text, two beginnings. */
import { UsageError } from '../failure.ts'
import { doctor } from './doctor.ts'
import { lineOf } from './failure.ts'
import { install } from './install.ts'
import type { Installation } from './installation.ts'
import { notice } from './notice.ts'
import { page } from './page.ts'
import { commandOf } from './places.ts'
import { readRecord } from './record.ts'
import { report } from './report.ts'
import { request } from './request.ts'
import { runAgent } from './run.ts'
import type { Install } from './service.ts'
import { setup } from './setup.ts'
import { openTerminal, type Terminal } from './terminal.ts'
import { update } from './update.ts'
import { usageText } from './usage.ts'

type Command = (install: Install, args: readonly string[], terminal: Terminal) => Promise<number>

const COMMANDS: Readonly<Record<string, Command>> = { report, harness: request, setup, update, page, doctor, notice }
const NOT_UNDERSTOOD = 2

const given: { readonly installation: Installation; readonly program: string } | undefined = Reflect.get(
  globalThis,
  Symbol.for('svc.installation'),
)
const [first, ...rest] = process.argv.slice(2)
process.exitCode =
  given === undefined
    ? await wrapper(first ?? '', rest)
    : await install({
        ...given,
        args: process.argv.slice(2),
        env: process.env,
        node: { path: process.execPath, version: process.versions.node },
      })

async function wrapper(folder: string, args: readonly string[]): Promise<number> {
  const terminal = openTerminal()
  let name = 'svc'
  const say = (line: string): void => terminal.warn(`${name}: ${line}`)
  try {
    const record = await readRecord(folder)
    name = commandOf(record.adapter)
    return await dispatch({ folder, record, env: process.env }, args, terminal, say)
  } catch (error) {
    const line = error instanceof UsageError ? `${error.message}; see '${name} help'` : lineOf(error)
    if (line === null) throw error
    say(line)
    return error instanceof UsageError ? NOT_UNDERSTOOD : 1
  }
}

async function dispatch(self: Install, args: readonly string[], terminal: Terminal, say: (line: string) => void): Promise<number> {
  const [word = '', ...others] = args
  if (word === '--') return runAgent(self, others, say)
  const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined
  if (command !== undefined) return command(self, others, terminal)
  const isHelp = word === 'help' || word === '--help' || word === '-h'
  if (isHelp) terminal.print(usageText(self.record))
  return word === 'help' ? 0 : runAgent(self, args, say)
}
