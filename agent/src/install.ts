/** One release of a harness onto this machine: the gate, the agent's program, the files, the command. */
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pasted, TOKEN_VARIABLE } from '@svc-ai/client/shared'
import { chooseInstall } from './choose.ts'
import { lineOf, Stop } from './failure.ts'
import { moveFormer } from './former-names.ts'
import { planOf, writePlan } from './install-files.ts'
import { requireNode, tellUnmet } from './install-gate.ts'
import { linkCommand } from './install-link.ts'
import { machineToken, type MachineToken } from './machine-token.ts'
import { oneAtATime } from './process-lock.ts'
import { destinationFor, isSameHarness } from './install-place.ts'
import type { Installation, SignedInstallation } from './installation.ts'
import { typed } from './launcher.ts'
import { homeOf, inFolder, installFolder, prefixOf } from './places.ts'
import { toolProblem } from './programs.ts'
import { recordIfThere, recordOf, type InstallRecord } from './record.ts'
import { unmetIn } from './release-file.ts'
import { openTerminal, type Terminal } from './terminal.ts'
import { tokenIn } from './token.ts'
import { trustInstallation, writeTrust } from './trust.ts'
import { ensureVendor } from './vendor.ts'
import { mkdirp } from '@svc-ai/client/folders'

export interface InstallOrder {
  readonly installation: SignedInstallation
  /** The text of this very program, which becomes the wrapper. */
  readonly program: string
  /** DEST and PREFIX, both optional. */
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** The Node that runs this, and will run the agent. */
  readonly node: { readonly path: string; readonly version: string }
  readonly terminal?: Terminal
}

/** The exit code. Run again after any failure, it completes what was begun. */
export const install = ({ terminal = openTerminal(), ...order }: InstallOrder): Promise<number> =>
  inOneLine(terminal, () => installOrRefuse(order, terminal))

/** What stops an install is one line, and 1. */
export async function inOneLine(terminal: Terminal, work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (error) {
    const line = lineOf(error)
    if (line === null) throw error
    terminal.warn(`svc: ${line}`)
    return 1
  }
}

async function installOrRefuse(order: Omit<InstallOrder, 'terminal'>, terminal: Terminal): Promise<number> {
  const { program, args, env, node } = order
  const { signed: _, ...installation } = order.installation
  requireFewArguments(args)
  requireNode(installation, node.version)
  await moveFormer({ home: homeOf(env), terminal, program, node: node.path })
  const isSame = (record: InstallRecord): Promise<boolean> => isSameHarness(record, installation, env)
  const destination = await destinationFor({ argument: args[0], adapter: installation.adapter, env }, isSame)
  const folder = installFolder(homeOf(env), destination)
  await trustInstallation(order.installation, program, folder, env)
  const missing = await unmetIn(destination, installation.requires, homeOf(env))
  if (missing.length > 0) {
    tellUnmet(order.installation, missing, { args, env, isInstalled: (await recordIfThere(folder)) !== null }, terminal)
    return 1
  }
  await mkdirp(folder, { mode: 0o700 })
  await mkdirp(destination)
  const record = recordOf(installation, destination, prefixOf(args[1], installation.adapter, env))
  const isInstalled = await oneAtATime(inFolder(folder).lock, terminal, async () => {
    const found = await recordIfThere(folder)
    if (found !== null && !(await isSame(found))) return false
    await installWhole(order, record, folder, terminal)
    return true
  })
  // Another harness got the folder meanwhile: this one looks for a place again.
  return isInstalled ? 0 : installOrRefuse(order, terminal)
}

export function requireFewArguments(args: readonly string[]): void {
  if (args.length > 2) throw new Stop('there are at most two arguments: the folder of the harness, and that of the agent’s program')
}

async function installWhole(
  order: Omit<InstallOrder, 'terminal'>,
  record: InstallRecord,
  folder: string,
  terminal: Terminal,
): Promise<void> {
  const { installation, program, env, node } = order
  // Again, under the lock: another install may have seen a newer step meanwhile.
  const isUpdate = (await recordIfThere(folder)) !== null
  const { trust, note } = await trustInstallation(installation, program, folder, env)
  const token = await machineToken(record, folder, env)
  const wanted = { installation, record, folder, program, node: node.path, token: token?.token ?? null, env }
  // What could not be written is refused before anything is fetched; what a person checked off meanwhile is read after it.
  await planOf(wanted)
  await ensureVendor({ installation, prefix: record.prefix, env, node: node.path, terminal })
  warnAboutTools(installation, env, terminal)
  const plan = await planOf(wanted)
  await writeTrust(folder, trust)
  const isNew = await writePlan(plan)
  await rm(inFolder(folder).start, { force: true })
  const command = await commandFor(record, folder, await linkCommand(record.adapter, folder, env, terminal))
  warnAboutToken(token, env, terminal)
  if (note !== null && isUpdate) terminal.warn(note)
  terminal.print(isNew ? `installed release ${record.release_id}` : `release ${record.release_id} is already current`)
  for (const [what, where] of [
    ['run', command],
    ['agent', record.executable],
    ['harness', record.destination],
    ['key', trust.key],
    ...(token === null ? [] : [['token', token.name] as const]),
  ] as const)
    terminal.print(`  ${`${what}:`.padEnd(9)}${where}`)
  tellOwn(record, command, terminal)
}

/** A person expects their own agent behind the command. */
function tellOwn({ binary, client: { takes } }: InstallRecord, command: string, terminal: Terminal): void {
  if (takes === undefined) return
  terminal.print(`${binary} runs with the harness alone: your own settings, servers, memory and login of ${binary} are not used.`)
  const names = Object.keys(takes).join(',')
  if (names !== '') terminal.print(`To take some over for one session, name them: ${command} --take ${names}`)
}

/** Where another harness of the same agent is as near, the command must name the one that is meant. */
async function commandFor({ adapter, scenario, destination }: InstallRecord, folder: string, command: string): Promise<string> {
  if (dirname(command) === folder) return typed(command)
  const call = { folder, adapter, args: [], env: {}, cwd: dirname(destination) }
  const isClear = await chooseInstall(call).then(
    (chosen) => chosen.folder === folder,
    () => false,
  )
  return isClear ? typed(command) : `${typed(command)} --scenario ${pasted(scenario)}`
}

function warnAboutTools({ binary, client }: Installation, env: NodeJS.ProcessEnv, terminal: Terminal): void {
  for (const tool of client.tools) {
    const problem = toolProblem(tool, binary, env)
    if (problem !== null) terminal.warn(problem)
  }
}

function warnAboutToken(token: MachineToken | null, env: NodeJS.ProcessEnv, terminal: Terminal): void {
  const given = tokenIn(env)
  if (token === null && given === null)
    terminal.warn(
      `${TOKEN_VARIABLE} is not set: no token was kept; where the service asks for one, have ${TOKEN_VARIABLE} set whenever you run the agent`,
    )
  if (token !== null && given !== null && given !== token.token)
    terminal.warn(`${TOKEN_VARIABLE} was written nowhere; unset it, since it counts before the token of this machine`)
}
