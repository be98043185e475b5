/** Contestants written in Python: each in a virtual environment of its own under this folder, made again when its version changes. */

import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { artifactsIn, recordsIn, SCENARIO, TOKEN, type Running, type Site } from './contestant.ts'
import { freePort, start } from './processes.ts'

const ENVIRONMENTS = new URL('./environments/', import.meta.url).pathname
/** They import for a long time before they listen. */
const READY_WITHIN_MS = 120_000

interface PythonPackage {
  readonly requirement: string
  readonly version: string
  /** The oldest minor version of Python 3 that it runs on. */
  readonly python: number
}

const PYTHON_PACKAGES = {
  /** The original system. */
  reef: { requirement: 'reef-infra', version: '0.1.3', python: 12 },
  litellm: { requirement: 'litellm[proxy]', version: '1.106.2', python: 10 },
} as const satisfies Readonly<Record<string, PythonPackage>>
type PythonName = keyof typeof PYTHON_PACKAGES
export const PYTHON_NAMES = ['litellm', 'reef'] as const satisfies readonly PythonName[]

const folderOf = (name: PythonName): string => join(ENVIRONMENTS, `${name}-${PYTHON_PACKAGES[name].version}`)
const programOf = (name: PythonName): string => join(folderOf(name), 'bin', name)
/** Written last, so that an install that was stopped is made again. */
const wholeFile = (name: PythonName): string => join(folderOf(name), 'whole')

export function installedVersion(name: PythonName): string {
  return existsSync(wholeFile(name)) ? PYTHON_PACKAGES[name].version : 'absent'
}

/** Throws with one line when it cannot be installed here. */
export function installPython(name: PythonName): void {
  if (installedVersion(name) !== 'absent') return
  const { requirement, version, python } = PYTHON_PACKAGES[name]
  const interpreter = pythons().find((candidate) => minorOf(candidate) >= python)
  if (interpreter === undefined) throw new Error(`needs Python 3.${python} or later`)
  mkdirSync(ENVIRONMENTS, { recursive: true })
  rmSync(folderOf(name), { recursive: true, force: true })
  must(interpreter, ['-m', 'venv', folderOf(name)])
  must(join(folderOf(name), 'bin', 'python'), [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    `${requirement}==${version}`,
  ])
  writeFileSync(wholeFile(name), '')
}

/** Those on the path, then those that pyenv keeps. */
function pythons(): readonly string[] {
  const kept = join(homedir(), '.pyenv', 'versions')
  const others = existsSync(kept) ? readdirSync(kept).map((version) => join(kept, version, 'bin', 'python3')) : []
  return ['python3', 'python3.14', 'python3.13', 'python3.12', ...others]
}

function minorOf(python: string): number {
  const { stdout } = spawnSync(python, ['--version'], { encoding: 'utf8' })
  return Number(/^Python 3\.(\d+)/.exec(stdout ?? '')?.[1] ?? -1)
}

function must(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error((stderr ?? '').trim().split('\n').at(-1) ?? 'its installation failed')
}

export const GIT_LFS_PACKAGE = 'git-lfs'

/** The original system keeps its releases with it. */
export function hasGitLfs(): boolean {
  return spawnSync('git', ['lfs', 'version']).status === 0
}

/** With its own way to record: SQLite, and a receipt in a header. */
export async function startReef(site: Site): Promise<Running> {
  const port = await freePort()
  const settings = {
    '--recipe.implementation': 'recipe',
    '--reef.host': '127.0.0.1',
    '--reef.port': String(port),
    '--inference.upstream-url': `http://127.0.0.1:${site.upstreamPort}`,
    '--inference.upstream-model': 'mock',
    '--storage.agent-record-dir': recordsIn(site),
    '--storage.artifact-repository': artifactsIn(site),
  }
  const startedAt = performance.now()
  const process = await start({
    command: programOf('reef'),
    args: ['serve', ...Object.entries(settings).flat()],
    env: { REEF_TOKEN: TOKEN },
    cwd: site.directory,
    port,
    outputFile: join(site.directory, 'reef.log'),
    readyWithinMs: READY_WITHIN_MS,
    hasChildren: true,
  })
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-reef-scenario': SCENARIO }
  return { name: 'reef', port, headers, process, bootMs: performance.now() - startedAt, routes: '/reef' }
}

/** One worker, no database: it records nothing. */
export async function startLitellm(site: Site): Promise<Running> {
  const port = await freePort()
  const config = join(site.directory, 'litellm.yaml')
  const upstream = `{ model: "openai/*", api_base: "http://127.0.0.1:${site.upstreamPort}/v1", api_key: any }`
  writeFileSync(config, `model_list:\n  - { model_name: "*", litellm_params: ${upstream} }\nlitellm_settings: { telemetry: false }\n`)
  const key = `sk-${randomBytes(32).toString('hex')}`
  const startedAt = performance.now()
  const process = await start({
    command: programOf('litellm'),
    args: ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False'],
    env: { LITELLM_MASTER_KEY: key, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR' },
    cwd: site.directory,
    port,
    outputFile: join(site.directory, 'litellm.log'),
    readyWithinMs: READY_WITHIN_MS,
  })
  return { name: 'litellm', port, headers: { authorization: `Bearer ${key}` }, process, bootMs: performance.now() - startedAt }
}
