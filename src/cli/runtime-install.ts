/** Installs a runtime's packages with npm and the lockfile that comes with the service: completely, or not at all. */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'
import { childEnvironment, LLAMA_PACKAGE, PACKAGE_SOURCES, unavailable, unsupported } from '../contract/index.ts'
import { hasCode } from '../kit/index.ts'

const run = promisify(execFile)

const LOCK = new URL('../../plugins/runtimes/llama/package-lock.json', import.meta.url)
const lockSchema = z.object({
  packages: z.record(z.string(), z.looseObject({ optionalDependencies: z.record(z.string(), z.string()).optional() })),
})

/** The library's own names of platforms. */
const SYSTEMS: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'mac', win32: 'win' }
const PROCESSORS: Readonly<Record<string, string>> = { arm: 'armv7l' }
const OUTPUT_BYTES_MAX = 2 ** 24
const OUTPUT_LINES_SHOWN = 12
const CHECK_OPTIONS = { build: 'never', gpu: false, skipDownload: true, logLevel: 'error' }
/** A temporary folder older than this was left by a killed installation. */
const ABANDONED_MILLISECONDS = 3_600_000

export const isInstalled = (folder: string): boolean => existsSync(join(folder, 'node_modules', LLAMA_PACKAGE.name))

/** Installs into a temporary folder and renames it, so that readers see a complete one or none. Of two concurrent installs the first stays, unless it is to be replaced. */
export async function installLlama(folder: string, environment: NodeJS.ProcessEnv, there: 'keep' | 'replace' = 'keep'): Promise<void> {
  const lock = readFileSync(LOCK, 'utf8')
  const binary = binaryFor(lock, process.platform, process.arch)
  const beside = `${folder}.making-${randomUUID()}`
  await mkdir(beside, { recursive: true })
  try {
    await removeAbandoned(folder)
    await install(beside, lock, binary, environment)
    await checkBinary(beside, environment)
    if (there === 'replace') await rename(folder, join(beside, 'replaced')).catch(() => null)
    await moveInto(beside, folder)
    await rm(join(folder, 'replaced'), { recursive: true, force: true })
  } finally {
    await rm(beside, { recursive: true, force: true })
  }
}

/** The CPU binary: those for GPUs are ten times as large. The library pins the exact version of each. */
export function binaryFor(lock: string, platform: string, architecture: string): string {
  const { packages } = lockSchema.parse(JSON.parse(lock))
  const versions = packages[`node_modules/${LLAMA_PACKAGE.name}`]?.optionalDependencies ?? {}
  const name = `@node-llama-cpp/${SYSTEMS[platform] ?? platform}-${PROCESSORS[architecture] ?? architecture}`
  const found = [name, `${name}-metal`].find((one) => versions[one] !== undefined)
  if (found === undefined)
    throw unsupported('no_binary', `there is no llama runtime for ${platform} on ${architecture}; use sglang or vllm instead`)
  return `${found}@${versions[found]}`
}

async function removeAbandoned(folder: string): Promise<void> {
  const names = (await readdir(dirname(folder))).filter((name) => name.startsWith(`${basename(folder)}.making-`))
  for (const name of names) {
    const path = join(dirname(folder), name)
    const made = await stat(path).catch(() => null)
    if (made !== null && Date.now() - made.mtimeMs > ABANDONED_MILLISECONDS) await rm(path, { recursive: true, force: true })
  }
}

/** Every package by the lockfile's version and digest, without install scripts, and only this one of the optional binaries. */
async function install(into: string, lock: string, binary: string, environment: NodeJS.ProcessEnv): Promise<void> {
  await writeFile(join(into, 'package-lock.json'), lock)
  await writeFile(
    join(into, 'package.json'),
    JSON.stringify({ name: 'llama', private: true, dependencies: { [LLAMA_PACKAGE.name]: LLAMA_PACKAGE.version } }),
  )
  const quietly = ['--no-save', '--omit=optional', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  await run('npm', ['install', '--prefix', into, ...quietly, binary], {
    cwd: into,
    env: childEnvironment(environment, PACKAGE_SOURCES),
    maxBuffer: OUTPUT_BYTES_MAX,
  }).catch((error: unknown) => {
    throw notInstalled(error)
  })
}

function notInstalled(error: unknown): Error {
  if (hasCode(error, 'ENOENT'))
    return unavailable('no_npm', 'the runtime is installed with npm, which is not on PATH; install npm and run the same command again')
  const said =
    error instanceof Error && 'stderr' in error ? String(error.stderr).trimEnd().split('\n').slice(-OUTPUT_LINES_SHOWN).join('\n') : ''
  return unavailable(
    'not_installed',
    `npm could not install the runtime; check the network and run the same command again. It said: ${said}`,
  )
}

/** In a process of its own: an incompatible binary may crash the process that loads it. */
async function checkBinary(folder: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const program = join(folder, 'try.mjs')
  await writeFile(
    program,
    `import { getLlama } from '${LLAMA_PACKAGE.name}'\nawait getLlama(${JSON.stringify(CHECK_OPTIONS)})\nprocess.exit()\n`,
  )
  await run(process.execPath, [program], { env: childEnvironment(environment) }).catch((error: unknown) => {
    throw unavailable('not_usable', 'the runtime was installed, but its binary does not run on this machine; use sglang or vllm instead', {
      cause: error,
    })
  })
}

async function moveInto(beside: string, folder: string): Promise<void> {
  await rename(beside, folder).catch((error: unknown) => {
    if (!isInstalled(folder)) throw error
  })
}

export async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = entries.filter((entry) => entry.isFile()).map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
