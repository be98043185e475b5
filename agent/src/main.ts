/** The program that an install script feeds to Node, and that `svc-<adapter>` runs from then on: one text, two beginnings. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { UsageError } from '@svc-ai/client/shared'
import { chooseInstall } from './choose.ts'
import { doctor } from './doctor.ts'
import { lineOf } from './failure.ts'
import { moveFormer } from './former-names.ts'
import { install } from './install.ts'
import { installFromStart } from './install-start.ts'
import type { InstallStart, SignedInstallation } from './installation.ts'
import { ANY } from './launcher.ts'
import { notice } from './notice.ts'
import { page } from './page.ts'
import { commandOf, homeOf } from './places.ts'
import { readRecord } from './record.ts'
import { report } from './report.ts'
import { request } from './request.ts'
import { runAgent } from './run.ts'
import type { Install } from './service.ts'
import { setup } from './setup.ts'
import { takenIn } from './take-over.ts'
import { openTerminal, type Terminal } from './terminal.ts'
import { trust } from './trust-command.ts'
import { uninstall } from './uninstall.ts'
import { update } from './update.ts'
import { usageText } from './usage.ts'

type Command = (install: Install, args: readonly string[], terminal: Terminal) => Promise<number>

const COMMANDS: Readonly<Record<string, Command>> = { report, harness: request, setup, update, page, doctor, notice, trust, uninstall }
const NOT_UNDERSTOOD = 2

const given: { readonly installation: SignedInstallation | InstallStart; readonly program: string } | undefined = Reflect.get(
  globalThis,
  Symbol.for('svc.installation'),
)
const words = process.argv.slice(2)
process.exitCode = given === undefined ? await wrapper(words) : await installed(given)

function installed({ installation, program }: NonNullable<typeof given>): Promise<number> {
  const machine = { args: words, env: process.env, node: { path: process.execPath, version: process.versions.node } }
  if ('recipe' in installation) return installFromStart({ ...machine, start: installation, program })
  return install({ ...machine, installation, program })
}

async function wrapper(argv: readonly string[]): Promise<number> {
  const terminal = openTerminal()
  const [adapter, called = '', args] = argv[0] === ANY ? [argv[1] ?? '', argv[2], argv.slice(3)] : [null, argv[0], argv.slice(1)]
  let name = adapter === null ? 'svc' : commandOf(adapter)
  const say = (line: string): void => terminal.warn(`${name}: ${line}`)
  try {
    const folder = await presentFolder(called, terminal)
    const isForAny = args[0] === 'help'
    const chosen = isForAny
      ? { folder, args, note: null, isFar: false }
      : await chooseInstall({ folder, adapter, args, env: process.env, cwd: workingFolder() })
    const record = await readRecord(chosen.folder)
    name = commandOf(record.adapter)
    if (chosen.note !== null) say(chosen.note)
    return await dispatch({ folder: chosen.folder, record, env: process.env, isFar: chosen.isFar }, chosen.args, terminal, say)
  } catch (error) {
    const line = error instanceof UsageError ? `${error.message}; see '${name} help'` : lineOf(error)
    if (line === null) throw error
    say(line)
    return error instanceof UsageError ? NOT_UNDERSTOOD : 1
  }
}

/** The install that was called, after those of an earlier version were renamed. */
async function presentFolder(folder: string, terminal: Terminal): Promise<string> {
  const [, self = ''] = process.argv
  const program = readFileSync(self, 'utf8')
  await moveFormer({ home: homeOf(process.env), terminal, program, node: process.execPath }).catch((error: unknown) => {
    // The command works where everything is; the next one tries again.
    const line = lineOf(error)
    if (line === null) throw error
    terminal.warn(`the folders of an earlier version could not be renamed: ${line}`)
  })
  return existsSync(folder) ? realpathSync(folder) : folder
}

/** It may have been removed under the shell. */
function workingFolder(): string {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}

async function dispatch(self: Install, args: readonly string[], terminal: Terminal, say: (line: string) => void): Promise<number> {
  const [word = '', ...others] = args
  if (word === '--') return runAgent(self, others, say)
  const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined
  if (command !== undefined) return command(self, others, terminal)
  const { takes, rest } = takenIn(args, self.record)
  if (rest !== args) return runAgent(self, rest[0] === '--' ? rest.slice(1) : rest, say, takes)
  const isHelp = word === 'help' || word === '--help' || word === '-h'
  if (isHelp) terminal.print(usageText(self.record))
  return word === 'help' ? 0 : runAgent(self, args, say)
}
