/**
 * The agent's own program at its pinned version. It is made in a folder of its own and tried there; only then a link in the prefix is turned
 * to it. So a program that is there is whole, whatever was killed, and one that cannot be made leaves the one before in place.
 */
import { randomUUID } from 'node:crypto'
import { lstat, mkdtemp, readdir, readlink, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { childEnvironment, PACKAGE_SOURCES } from '@svc-ai/client/shared'
import { hasCode, Stop } from './failure.ts'
import { oneAtATime } from './process-lock.ts'
import type { Installation, VendorInstall } from './installation.ts'
import { runProgram, withNode, withoutNearPrograms } from './programs.ts'
import type { InstallRecord } from './record.ts'
import { rooted } from './run-folder.ts'
import type { Terminal } from './terminal.ts'
import { requireLocked } from './vendor-lock.ts'
import { readIfThere } from './whole-file.ts'
import { mkdirp } from '@svc-ai/client/folders'

export interface VendorOrder {
  readonly installation: Pick<Installation, 'binary' | 'install' | 'client'>
  readonly prefix: string
  /** Of it, npm, the vendor's own scripts and the program get what they need to run, and nothing else. */
  readonly env: NodeJS.ProcessEnv
  readonly node: string
  readonly terminal: Terminal
}

const PIN_FILE = '.svc-install-pin'
const BUILDS = '.svc-builds'
const LOCK = '.svc-install-lock'
/** What earlier versions called the same. */
const FORMER = { pin: '.reef-install-pin', builds: '.reef-builds', lock: '.reef-install-lock' } as const
const VERSION_SECONDS_MAX = 60
const OUTPUT_LINES_SHOWN = 40

export async function ensureVendor(order: VendorOrder): Promise<void> {
  const { prefix, terminal } = order
  if (await answers(order, prefix)) return
  await mkdirp(prefix)
  const work = async (): Promise<void> => {
    if (await answers(order, prefix)) return
    await requireOwnLink(join(prefix, linkName(order.installation.install)))
    await replace(order)
  }
  await oneAtATime(join(prefix, LOCK), terminal, () => oneAtATime(join(prefix, FORMER.lock), terminal, work))
}

/** Whether the pinned version is below this folder, and runs. */
async function answers({ installation: { install, client }, env, node }: VendorOrder, root: string): Promise<boolean> {
  if ((await pinIn(root, install)) !== pinOf(install) || !(await isLockedAs(root, install))) return false
  return saysVersion(join(root, install.binary_path), { install, client, env, node })
}

/** Whether a program is there, starts, and calls itself by the pinned version. It may write: it is given a root that goes again. */
export async function saysVersion(
  executable: string,
  { install, client, env, node }: Pick<InstallRecord, 'install' | 'client'> & Pick<VendorOrder, 'env' | 'node'>,
): Promise<boolean> {
  const scratch = await mkdtemp(join(tmpdir(), 'svc-version-'))
  try {
    const own = { ...withNode(childEnvironment(env), node), ...rooted(client.env, scratch) }
    const asked = { env: own, cwd: scratch, timeoutSeconds: VERSION_SECONDS_MAX }
    const { code, output } = await runProgram(executable, ['--version'], asked)
    return code === 0 && hasWord(output, install.version)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES', 'ENOEXEC')) return false
    throw error
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** What a folder says it holds. A clone's version does not change with what was cloned, so that is written down beside it. */
async function pinIn(root: string, install: VendorInstall): Promise<string | null> {
  if (install.manager === 'git') {
    const [pin, former] = await Promise.all([PIN_FILE, FORMER.pin].map((name) => readIfThere(join(root, linkName(install), name))))
    return (pin ?? former)?.trim() ?? null
  }
  const text = await readIfThere(join(root, 'node_modules', install.package, 'package.json'))
  const version = /"version"\s*:\s*"([^"]*)"/.exec(text ?? '')?.[1]
  return version ?? null
}

/** A lock lies beside the real `node_modules`. */
async function isLockedAs(root: string, { lock, binary_path }: VendorInstall): Promise<boolean> {
  if (lock === undefined) return true
  const modules = await realpath(join(root, linkName({ binary_path }))).catch(() => null)
  return modules !== null && (await readIfThere(join(dirname(modules), 'package-lock.json'))) === lock
}

const pinOf = ({ manager, version, repository, commit }: VendorInstall): string => (manager === 'npm' ? version : `${repository}@${commit}`)

function hasWord(output: string, version: string): boolean {
  return output.split(/[^A-Za-z0-9.+_-]+/).some((word) => word === version || word === `v${version}`)
}

/** A folder there is somebody's: of an install by hand, or of a project. */
async function requireOwnLink(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null)
  if (found === null || found.isSymbolicLink()) return
  throw new Stop(`${path} was not made by an install; move it away, or name another PREFIX as the second argument`)
}

/** No other install works in the prefix meanwhile, so every other build there was replaced, or never finished. The one before stays: a session may run it. */
async function replace(order: VendorOrder): Promise<void> {
  const { installation, prefix, terminal } = order
  const { install, binary } = installation
  const build = join(prefix, BUILDS, randomUUID())
  const before = await readlink(join(prefix, linkName(install))).catch(() => '')
  await mkdirp(build)
  try {
    const make = install.manager === 'npm' ? npmInstall : cloneAndInstall
    await terminal.during(`installing ${binary} ${install.version}`, () => make(order, build))
    if (!(await answers(order, build)))
      throw new Stop(
        `${binary} was installed but does not answer --version with ${install.version}; try ${binary} on this machine by itself`,
      )
    await turnLink(prefix, linkName(install), join(BUILDS, basename(build), linkName(install)))
  } catch (error) {
    await rm(build, { recursive: true, force: true })
    throw error
  }
  const builds = await Promise.all([BUILDS, FORMER.builds].map((name) => buildsIn(join(prefix, name))))
  const others = builds.flat().filter((path) => path !== build && path !== dirname(join(prefix, before)))
  await Promise.all(others.map((path) => rm(path, { recursive: true, force: true })))
}

const buildsIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder).catch(() => [])).map((name) => join(folder, name))

/** What installs put below a prefix, and nothing else that lies there. */
export async function removeVendor({ prefix, install }: Pick<InstallRecord, 'prefix' | 'install'>): Promise<void> {
  const link = join(prefix, linkName(install))
  if ((await lstat(link).catch(() => null))?.isSymbolicLink() === true) await rm(link)
  for (const name of [BUILDS, FORMER.builds]) await rm(join(prefix, name), { recursive: true, force: true })
}

/** Scripts of packages are never run: the lock vouches for bytes, and not for what a script fetches. */
async function npmInstall(order: VendorOrder, build: string): Promise<void> {
  const { install } = order.installation
  const { package: name, version, lock } = install
  const quietly = ['--prefix', build, '--ignore-scripts', '--no-audit', '--no-fund']
  if (lock === undefined) {
    await mustRun(order, build, 'npm', ['install', ...quietly, '--no-save', `${name}@${version}`])
  } else {
    requireLocked(install, whatOf(order))
    await writeFile(join(build, 'package.json'), JSON.stringify({ name: 'agent', private: true, dependencies: { [name]: version } }))
    await writeFile(join(build, 'package-lock.json'), lock)
    await mustRun(order, build, 'npm', ['ci', ...quietly])
  }
  await linkNative(order, build)
}

/** What the vendor's own script would do: the program is the one that was made for this machine. */
async function linkNative(order: VendorOrder, build: string): Promise<void> {
  const { native = [], binary_path } = order.installation.install
  if (native.length === 0) return
  const link = join(build, binary_path)
  for (const template of native) {
    const path = template.replaceAll('{os}', process.platform).replaceAll('{cpu}', process.arch)
    const program = join(build, linkName({ binary_path }), path)
    if ((await lstat(program).catch(() => null))?.isFile() !== true) continue
    await rm(link, { force: true })
    await mkdirp(dirname(link))
    await symlink(relative(dirname(link), program), link)
    if (await answers(order, build)) return
  }
  throw new Stop(`${whatOf(order)} has no program for ${process.platform} on ${process.arch} in its lock; install it on another machine`)
}

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/** By the commit, since a tag can be moved. Python keeps the folder a program was installed in, so nothing is moved afterwards. */
async function cloneAndInstall(order: VendorOrder, build: string): Promise<void> {
  const { install } = order.installation
  const { repository = '', commit = '' } = install
  if (!COMMIT.test(commit)) throw new Stop(`${whatOf(order)} names no commit; ask the operator of the service for an adapter that does`)
  const [source, venv] = [join(build, 'src'), join(build, linkName(install))]
  const inSource = (...args: readonly string[]): Promise<string> => mustRun(order, build, 'git', ['-C', source, ...args])
  await mustRun(order, build, 'git', ['init', '--quiet', source])
  await inSource('fetch', '--quiet', '--no-tags', '--depth', '1', '--', repository, commit)
  const fetched = (await inSource('rev-parse', '--verify', 'FETCH_HEAD^{commit}')).trim()
  if (fetched !== commit)
    throw new Stop(
      `${repository} gave commit ${fetched} for ${commit}, so ${whatOf(order)} was not installed; tell the operator of the service`,
    )
  await inSource('checkout', '--quiet', '--detach', commit)
  await rm(join(source, '.git'), { recursive: true, force: true })
  await mustRun(order, build, 'python3', ['-m', 'venv', venv])
  await mustRun(order, build, join(venv, 'bin', 'python'), ['-m', 'pip', 'install', '--disable-pip-version-check', '--editable', source])
  await writeFile(join(venv, PIN_FILE), `${pinOf(install)}\n`)
}

const whatOf = ({ installation: { binary, install } }: VendorOrder): string => `${binary} ${install.version}`

/** In the new folder, and by absolute paths alone: a program or a module in a person's project is not what is meant. */
async function mustRun(order: VendorOrder, build: string, program: string, args: readonly string[]): Promise<string> {
  const env = withoutNearPrograms(childEnvironment(order.env, PACKAGE_SOURCES))
  const outcome = await runProgram(program, args, { env, cwd: build }).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
    throw new Stop(`${whatOf(order)} is installed with ${program}, which is not on PATH; install ${program} and run the same command again`)
  })
  if (outcome.code === 0) return outcome.output
  if (/\bEINTEGRITY\b/.test(outcome.output))
    throw new Stop(
      `a package of ${whatOf(order)} is not the one that its lock names, so nothing was installed; check the registry that npm uses`,
    )
  order.terminal.warn(outcome.output.trimEnd().split('\n').slice(-OUTPUT_LINES_SHOWN).join('\n'))
  throw new Stop(`${basename(program)} could not install ${whatOf(order)}; see above, check the network and run the same command again`)
}

/** In one step: there is always either the program before or this one. */
async function turnLink(prefix: string, name: string, target: string): Promise<void> {
  const beside = join(prefix, BUILDS, `${randomUUID()}-link`)
  await symlink(target, beside)
  await rename(beside, join(prefix, name))
}

/** What the way to the program begins with: `node_modules`, or the folder of a Python environment. */
const linkName = ({ binary_path }: Pick<VendorInstall, 'binary_path'>): string => binary_path.split('/')[0] ?? ''
