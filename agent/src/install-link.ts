/** The command in the folder of a person's own commands. */
import { lstat, readlink, rename, rm, symlink } from 'node:fs/promises'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { ifAbsent, lineOf } from './failure.ts'
import { typed } from './launcher.ts'
import { commandFolder, commandOf, formerFolders, homeOf, stateFolders } from './places.ts'
import type { Terminal } from './terminal.ts'
import { mkdirp } from '@svc-ai/client/folders'

/** What to type to run the agent. Only a link that an install made is ever replaced. */
export async function linkCommand(adapter: string, folder: string, env: NodeJS.ProcessEnv, terminal: Terminal): Promise<string> {
  const home = homeOf(env)
  const launcher = join(folder, commandOf(adapter))
  const link = join(commandFolder(home), commandOf(adapter))
  const target = await targetOf(link)
  if (target !== null && !isOfInstall(target, home)) {
    terminal.warn(`${link} is there already and was left as it is; run ${typed(launcher)} instead`)
    return launcher
  }
  if (target !== launcher && !(await isTurned(link, launcher, terminal))) return launcher
  if ((env['PATH'] ?? '').split(delimiter).includes(dirname(link))) return commandOf(adapter)
  terminal.warn(`${dirname(link)} is not on PATH; to have ${commandOf(adapter)} there: export PATH=${typed(dirname(link))}:"$PATH"`)
  return link
}

const isOfInstall = (target: string, home: string): boolean =>
  [stateFolders(home), formerFolders(home)].some(({ installs }) => target.startsWith(`${installs}/`))

/** A command of an install that was moved leads to where it is now. */
export async function turnFormerCommand(adapter: string, folder: string, home: string): Promise<void> {
  const link = join(commandFolder(home), commandOf(adapter))
  const target = await targetOf(link)
  if (target?.startsWith(`${formerFolders(home).installs}/`) === true) await turn(link, join(folder, commandOf(adapter)))
}

/** Before an install goes: its command leads to another one of the same agent, or goes with it. Anybody else's stays. */
export async function unlinkCommand(adapter: string, folder: string, next: string | null, home: string): Promise<void> {
  const link = join(commandFolder(home), commandOf(adapter))
  if ((await targetOf(link)) !== join(folder, commandOf(adapter))) return
  if (next === null) await rm(link, { force: true })
  else await turn(link, join(next, commandOf(adapter)))
}

async function targetOf(link: string): Promise<string | null> {
  if ((await lstat(link).catch(ifAbsent))?.isSymbolicLink() === false) return 'something else'
  const target = await readlink(link).catch(ifAbsent)
  return target === null ? null : resolve(dirname(link), target)
}

/** Without the link the agent runs all the same. */
async function isTurned(link: string, launcher: string, terminal: Terminal): Promise<boolean> {
  try {
    await turn(link, launcher)
    return true
  } catch (error) {
    const line = lineOf(error)
    if (line === null) throw error
    terminal.warn(`${link} cannot be made: ${line}; until then run ${typed(launcher)}`)
    return false
  }
}

/** Beside it stands what this install's killed forerunner may have left. */
async function turn(link: string, launcher: string): Promise<void> {
  const beside = join(dirname(link), `.${basename(link)}.${basename(dirname(launcher))}`)
  await mkdirp(dirname(link))
  await rm(beside, { force: true })
  await symlink(launcher, beside)
  await rename(beside, link)
}
