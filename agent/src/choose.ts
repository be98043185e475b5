/** Which of the installations on this machine a command is for: the one that is named, else by the folder it is called in. */
import { showHiddenLine } from '@svc-ai/client/hidden'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { UsageError } from '@svc-ai/client/shared'
import { Stop } from './failure.ts'
import { typed } from './launcher.ts'
import { commandOf } from './places.ts'
import { installsIn, recordIfThere, type FoundInstall } from './record.ts'
import { SESSION } from './service.ts'

export interface InstallCall {
  /** The installation that was called. */
  readonly folder: string
  /** Of all that were made for this agent, when it was called by the name on PATH; null when by its own path. */
  readonly adapter: string | null
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
}

export interface ChosenInstall {
  readonly folder: string
  readonly args: readonly string[]
  /** Which one it is, where there are others. */
  readonly note: string | null
  /** Chosen as the only one there is, neither named nor for this folder. */
  readonly isFar: boolean
}

const OPTION = '--scenario'

export async function chooseInstall(call: InstallCall): Promise<ChosenInstall> {
  const { scenario, rest } = scenarioIn(call.args)
  if (scenario === null && call.adapter === null) return { folder: call.folder, args: rest, note: null, isFar: false }
  const adapter = call.adapter ?? (await recordIfThere(call.folder))?.adapter
  const all = (await recordsBeside(call.folder)).filter(({ record }) => record.adapter === adapter)
  const chosen = scenario === null ? byPlace(call, all) : byName(scenario, call, all)
  if (chosen === null) return { folder: call.folder, args: rest, note: null, isFar: false }
  const isFar = scenario === null && !isNear(call, chosen)
  return { folder: chosen.folder, args: rest, note: all.length > 1 ? lineOf(chosen) : null, isFar }
}

/** Before all other words: everything after is the command's, or the agent's. */
function scenarioIn(args: readonly string[]): { readonly scenario: string | null; readonly rest: readonly string[] } {
  const [first = '', second = ''] = args
  const isSplit = first === OPTION
  if (!isSplit && !first.startsWith(`${OPTION}=`)) return { scenario: null, rest: args }
  const scenario = (isSplit ? second : first.slice(OPTION.length + 1)).trim()
  if (scenario === '') throw new UsageError(`${OPTION} needs the name of a scenario that is installed here`)
  return { scenario, rest: args.slice(isSplit ? 2 : 1) }
}

/** Those whose harness was removed by hand are of no use, and no reason to ask. */
async function recordsBeside(folder: string): Promise<readonly FoundInstall[]> {
  const all = await installsIn(dirname(folder)).catch(() => [])
  const whole = all.filter(({ record }) => existsSync(record.destination))
  return whole.length === 0 ? all : whole
}

/** A session's own commands are about that session; otherwise the nearest folder upwards that a harness lies in decides. */
function byPlace(call: InstallCall, all: readonly FoundInstall[]): FoundInstall | null {
  const own = all.find(({ record }) => record.destination === call.env[SESSION.root])
  if (own !== undefined) return own
  for (const folder of upwards(call.cwd)) {
    const inside = all.find(({ record }) => record.destination === folder)
    if (inside !== undefined) return inside
    const here = all.filter(({ record }) => dirname(record.destination) === folder)
    if (here.length > 0) return only(here, 'several harnesses are installed in this folder', call)
  }
  return all.length === 0 ? null : only(all, 'several harnesses are installed on this machine, and none of them for this folder', call)
}

const isNear = ({ env, cwd }: InstallCall, { record: { destination } }: FoundInstall): boolean =>
  destination === env[SESSION.root] || upwards(cwd).some((folder) => folder === destination || folder === dirname(destination))

const upwards = (folder: string): readonly string[] => (dirname(folder) === folder ? [folder] : [folder, ...upwards(dirname(folder))])

function byName(scenario: string, call: InstallCall, all: readonly FoundInstall[]): FoundInstall | null {
  const named = all.filter(({ record }) => record.scenario === scenario)
  if (named.length === 0) throw new Stop(`no scenario ${JSON.stringify(scenario)} is installed here${listOf(all)}`)
  return byPlace(call, named)
}

function only(all: readonly FoundInstall[], problem: string, { adapter }: InstallCall): FoundInstall {
  const [first, second] = all
  if (first !== undefined && second === undefined) return first
  const command = commandOf(adapter ?? first?.record.adapter ?? '')
  throw new Stop(`${problem}; name one with '${command} ${OPTION} <name> …', or call the one you mean by its path:${listOf(all)}`)
}

const listOf = (all: readonly FoundInstall[]): string =>
  all.map((each) => `\n  ${lineOf(each)}, ${typed(join(each.folder, commandOf(each.record.adapter)))}`).join('')

const lineOf = ({ record: { scenario, url, destination } }: FoundInstall): string =>
  showHiddenLine(`scenario ${scenario} at ${url}, harness in ${destination}`)
