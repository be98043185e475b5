/** Installs a package that the service needs on demand, with npm and the lockfile that comes with the service: completely, or not at all. */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { childEnvironment, PACKAGE_SOURCES, unavailable } from '../contract/index.ts'
import { entriesBelow, hasCode, mkdirp } from '../kit/index.ts'

const run = promisify(execFile)

const OUTPUT_BYTES_MAX = 2 ** 24
const OUTPUT_LINES_SHOWN = 12
/** A temporary folder older than this was left by a killed installation. */
const ABANDONED_MILLISECONDS = 3_600_000

export interface LockedPackage {
  /** What it is to the user, as in "the runtime". */
  readonly part: string
  readonly name: string
  readonly version: string
  /** The lockfile's text. */
  readonly lock: string
  /** Installed with it, each with its version. */
  readonly beside: readonly string[]
  /** Throws when what was installed does not work on this machine. Absent from what is JavaScript alone. */
  readonly check?: (folder: string) => Promise<void>
}

export const isInstalled = (folder: string, { name }: Pick<LockedPackage, 'name'>): boolean =>
  existsSync(join(folder, 'node_modules', name))

/** Installs into a temporary folder and renames it, so that readers see a complete one or none. Of two concurrent installs the first stays, unless it is to be replaced. */
export async function installLocked(
  wanted: LockedPackage,
  folder: string,
  environment: NodeJS.ProcessEnv,
  there: 'keep' | 'replace',
): Promise<void> {
  const beside = `${folder}.making-${randomUUID()}`
  await mkdirp(beside)
  try {
    await removeAbandoned(folder)
    await install(beside, wanted, environment)
    await wanted.check?.(beside)
    if (there === 'replace') await rename(folder, join(beside, 'replaced')).catch(() => null)
    await moveInto(beside, folder, wanted)
    await rm(join(folder, 'replaced'), { recursive: true, force: true })
  } finally {
    await rm(beside, { recursive: true, force: true })
  }
}

async function removeAbandoned(folder: string): Promise<void> {
  const names = (await readdir(dirname(folder))).filter((name) => name.startsWith(`${basename(folder)}.making-`))
  for (const name of names) {
    const path = join(dirname(folder), name)
    const made = await stat(path).catch(() => null)
    if (made !== null && Date.now() - made.mtimeMs > ABANDONED_MILLISECONDS) await rm(path, { recursive: true, force: true })
  }
}

/** Every package by the lockfile's version and digest, without install scripts and optional packages. */
async function install(into: string, { part, name, version, lock, beside }: LockedPackage, environment: NodeJS.ProcessEnv): Promise<void> {
  await writeFile(join(into, 'package-lock.json'), lock)
  await writeFile(join(into, 'package.json'), JSON.stringify({ name: part, private: true, dependencies: { [name]: version } }))
  const quietly = ['--no-save', '--omit=optional', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  await run('npm', ['install', '--prefix', into, ...quietly, ...beside], {
    cwd: into,
    env: childEnvironment(environment, PACKAGE_SOURCES),
    maxBuffer: OUTPUT_BYTES_MAX,
  }).catch((error: unknown) => {
    throw notInstalled(part, error)
  })
}

function notInstalled(part: string, error: unknown): Error {
  if (hasCode(error, 'ENOENT'))
    return unavailable('no_npm', `the ${part} is installed with npm, which is not on PATH; install npm and run the same command again`)
  const said =
    error instanceof Error && 'stderr' in error ? String(error.stderr).trimEnd().split('\n').slice(-OUTPUT_LINES_SHOWN).join('\n') : ''
  return unavailable(
    'not_installed',
    `npm could not install the ${part}; check the network and run the same command again. It said: ${said}`,
  )
}

async function moveInto(beside: string, folder: string, wanted: LockedPackage): Promise<void> {
  await rename(beside, folder).catch((error: unknown) => {
    if (!isInstalled(folder, wanted)) throw error
  })
}

export async function bytesIn(folder: string): Promise<number> {
  const entries = await entriesBelow(folder)
  const sizes = entries.filter((entry) => entry.isFile()).map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
