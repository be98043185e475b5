/** Finds the agent's program: the configured one, our own agent, or the pinned version, installed on first use. */
import { hash } from 'node:crypto'
import { readFile, realpath, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, delimiter, join } from 'node:path'
import { ensureVendor } from '@svc-ai/agent/vendor'
import { unavailable, type Adapter } from '../contract/index.ts'
import { wordsOf } from '../kit/index.ts'

/** How the agent's program is started on this machine. */
export interface Program {
  readonly argv: readonly string[]
  readonly needs: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** A part of the cache key. */
  readonly version: string
}

export interface ProgramOrder {
  readonly adapter: Adapter
  /** A path, where the configuration names one. */
  readonly binary: string | null
  /** Where programs of all scenarios are installed. */
  readonly directory: string
}

const SYSTEM_PATH = ['/usr/local/bin', '/usr/bin', '/bin']

export async function openProgram({ adapter, binary, directory }: ProgramOrder): Promise<Program> {
  if (binary !== null) return named(await realpath(binary).catch(() => binary))
  const { install } = adapter
  if (install !== undefined) return installed({ ...adapter, install }, directory)
  if (adapter.binary !== NATIVE)
    throw unavailable(
      'no_program',
      `evolution.binary: adapter ${adapter.name} pins no program; set it to the program that episodes should run`,
    )
  const path = await nativePath()
  return startedAs([process.execPath, path], [dirname(path)], hash('sha256', await readFile(path)))
}

/** Without the program on this machine: what a service and its workers both know. */
export async function pinnedVersion({ install, binary: command }: Adapter, binary: string | null): Promise<string> {
  if (binary !== null) return binary
  if (install !== undefined) return versionOf(install)
  return command === NATIVE ? hash('sha256', await readFile(await nativePath())) : ''
}

const nativePath = (): Promise<string> => realpath(createRequire(import.meta.url).resolve('@svc-ai/native'))
const versionOf = ({ package: name, version }: Required<Adapter>['install']): string => `${name}@${version}`

export const NATIVE = 'svc-native'

/** The environment holds PATH alone, with the service's own Node first. */
function startedAs(argv: readonly string[], needs: readonly string[], version: string): Program {
  return { argv, needs, version, env: { PATH: [dirname(process.execPath), ...SYSTEM_PATH].join(delimiter) } }
}

async function named(path: string): Promise<Program> {
  const { mtimeMs, size } = await stat(path).catch(() => ({ mtimeMs: 0, size: 0 }))
  return startedAs([path], [neededWith(path)], `${path} ${mtimeMs} ${size}`)
}

/** The folder a program needs: its node_modules, else its own folder, but never a whole home folder. */
function neededWith(path: string): string {
  const packages = path.indexOf('/node_modules/')
  if (packages !== -1) return path.slice(0, packages + '/node_modules'.length)
  const folder = dirname(path)
  return folder === homedir() || folder === '/' ? path : folder
}

/** Uses the same installer as people's machines: pinned, verified and atomic. */
async function installed(adapter: Adapter & Required<Pick<Adapter, 'install'>>, directory: string): Promise<Program> {
  const { install, client } = adapter
  const binary = adapter.binary ?? adapter.name
  const prefix = join(directory, `${adapter.name}-${install.version}`)
  const session = client ?? { env: {}, env_defaults: {}, state: [], tools: [] }
  try {
    await ensureVendor({
      installation: { binary, install, client: session },
      prefix,
      env: process.env,
      node: process.execPath,
      terminal: SILENT,
    })
  } catch (error) {
    throw unavailable('no_program', `${binary} ${install.version} could not be installed for episodes: ${wordsOf(error)}`, { cause: error })
  }
  return startedAs([join(prefix, install.binary_path)], [prefix], versionOf(install))
}

/** There is no terminal; the step's failure reports errors. */
const SILENT = {
  interactive: false,
  print: () => undefined,
  printJson: () => undefined,
  warn: () => undefined,
  confirm: async () => false,
  ask: async () => '',
  during: <T>(_label: string, work: () => Promise<T>) => work(),
}
