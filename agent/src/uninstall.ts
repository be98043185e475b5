/** `uninstall`: takes away everything that an install and its sessions put on this machine, and leaves what a person changed or made. */
import { showHiddenLine } from '@svc-ai/client/hidden'
import { existsSync } from 'node:fs'
import { rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { forgetRelease, quoted, readOptions, removeFromTree } from '@svc-ai/client/shared'
import { bound } from './binding.ts'
import { forget, isWaiting, lockPath, sessionsOf } from './captures.ts'
import { Stop } from './failure.ts'
import { removeFormerLinks } from './former-names.ts'
import { forgetIgnored } from './ignore-file.ts'
import { unlinkCommand } from './install-link.ts'
import { endMachineToken } from './machine-token.ts'
import { oneAtATime } from './process-lock.ts'
import { capturesFolder, commandFolder, commandOf, homeOf, inFolder, installsFolder } from './places.ts'
import { installsIn, type FoundInstall, type InstallRecord } from './record.ts'
import { changedFiles, liveRuns } from './run-folder.ts'
import type { Install } from './service.ts'
import type { Terminal } from './terminal.ts'
import { keptToken } from './token.ts'
import { removeVendor } from './vendor.ts'
import { readPlain } from './whole-file.ts'

const TEXT_BYTES_MAX = 64 * 1024 * 1024

/** 0 when it is gone, 1 when the person would rather keep it. Killed on the way, the same command goes on: the record goes last. */
export async function uninstall(install: Install, args: readonly string[], terminal: Terminal): Promise<number> {
  const values = readOptions(args, { yes: { type: 'boolean', default: false } })
  const { folder, record, env } = install
  if (values.yes) refuseFar(install)
  await refuseWhileRunning(install)
  if (!values.yes && !(await isAgreed(install, terminal))) return 1
  await oneAtATime(inFolder(folder).lock, terminal, async () => {
    // Not sooner: while a person thinks it over, another install may come to use the same program.
    const others = await otherInstalls(folder)
    await endMachineToken(install, terminal)
    for (const path of await removeTree(install)) terminal.warn(`${showHiddenLine(join(record.destination, path))} was changed, and stays`)
    await removeSessions(install, others)
    if (!isProgramShared(record, others)) await removeVendor(record)
    const next = others.find((other) => other.record.adapter === record.adapter)?.folder ?? null
    await unlinkCommand(record.adapter, folder, next, homeOf(env))
    await rm(folder, { recursive: true, force: true })
  })
  await removeFormerLinks(folder, homeOf(env))
  for (const each of foldersOf(install)) await rmdir(each).catch(() => undefined)
  // Of the links that are left, some led to folders that have gone with the rest.
  await removeFormerLinks(folder, homeOf(env))
  terminal.print(
    `removed the harness of scenario ${showHiddenLine(record.scenario)} from ${record.destination}; the scenario stays at ${record.url}`,
  )
  return 0
}

/** Given twice in a row, it must not go on to the install of another folder once that is the only one left. */
function refuseFar({ record: { adapter, scenario, destination }, isFar }: Install): void {
  if (isFar !== true) return
  const named = `${commandOf(adapter)} --scenario ${quoted(showHiddenLine(scenario))} uninstall --yes`
  throw new Stop(`no harness is installed for this folder; there is one in ${showHiddenLine(destination)}, which goes with: ${named}`)
}

/** What runs would lose its files, and put new ones where the old ones were. */
async function refuseWhileRunning({ folder, record }: Install): Promise<void> {
  const [running] = await liveRuns(folder)
  if (running === undefined) return
  throw new Stop(
    `${commandOf(record.adapter)} runs with this harness (process ${running.pid}); end it and run the same command again (if there is no such session, remove ${running.note})`,
  )
}

const otherInstalls = async (folder: string): Promise<readonly FoundInstall[]> =>
  (await installsIn(dirname(folder))).filter((other) => other.folder !== folder)

const isProgramShared = ({ prefix }: InstallRecord, others: readonly FoundInstall[]): boolean =>
  others.some((other) => other.record.prefix === prefix)

async function isAgreed({ folder, record, env }: Install, terminal: Terminal): Promise<boolean> {
  if (!terminal.interactive) throw new Stop('there is no terminal to confirm on; add --yes to remove it')
  const waiting = (await sessionsOf(capturesFolder(homeOf(env)), record)).filter(isWaiting).length
  terminal.print(`This removes what was installed for scenario ${showHiddenLine(record.scenario)} at ${record.url}:`)
  terminal.print(`  the harness in ${record.destination}`)
  terminal.print(`  what ${record.binary} kept from its sessions, and the token, in ${folder}`)
  if (!isProgramShared(record, await otherInstalls(folder)))
    terminal.print(`  ${record.binary} ${record.install.version} in ${record.prefix}`)
  if (waiting > 0) terminal.print(`  the receipts of sessions that were not reported: ${waiting}`)
  return terminal.confirm('Remove it?', false)
}

/** A file that is not as it was written is the person's by now, and stays: the answer names those. */
async function removeTree({ folder, record, env }: Install): Promise<readonly string[]> {
  const { destination, url, files } = record
  if (!existsSync(destination)) return (forgetRelease(homeOf(env), destination), [])
  const written = bound(record, { url, token: await keptToken(folder) })
  const changed = [...(await changedFiles(record)), ...(await changedTexts(destination, written))]
  const ours = [...new Set([...Object.keys(files), ...Object.keys(written)])]
  removeFromTree(
    destination,
    ours.filter((path) => !changed.includes(path)),
    homeOf(env),
  )
  const left = changed.filter((path) => existsSync(join(destination, path)))
  if (!left.some((path) => Object.hasOwn(written, path))) await forgetIgnored(destination, record)
  return left
}

async function changedTexts(destination: string, written: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const texts = await Promise.all(Object.keys(written).map((path) => readPlain(join(destination, path), TEXT_BYTES_MAX)))
  return Object.entries(written).flatMap(([path, text], index) => (texts[index] === text ? [] : [path]))
}

/** One that does not say which harness it ran with may be another install's. */
async function removeSessions({ record, env }: Install, others: readonly FoundInstall[]): Promise<void> {
  const isShared = others.some((other) => other.record.url === record.url && other.record.scenario === record.scenario)
  for (const session of await sessionsOf(capturesFolder(homeOf(env)), record)) {
    if (session.destination === undefined && isShared) continue
    await forget(session)
    await rm(lockPath(session.path), { force: true })
  }
}

/** That installs make where they are missing: those that are empty now go. */
function foldersOf({ record: { destination, prefix, adapter }, env }: Install): readonly string[] {
  const home = homeOf(env)
  const [installs, commands, above] = [installsFolder(home), commandFolder(home), dirname(prefix)]
  const programs = basename(prefix) === adapter ? [prefix, above] : [prefix]
  const inHome = above.startsWith(`${dirname(commands)}/`) ? [dirname(above)] : []
  return [destination, ...programs, ...inHome, installs, capturesFolder(home), dirname(installs), commands, dirname(commands)]
}
