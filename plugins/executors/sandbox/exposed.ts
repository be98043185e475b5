/** What of the machine an episode sees: a closed list of folders with programs, and in them nothing of the deployment. */
import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { toolchains } from '../common/toolchains.ts'
import { unlessGone, walk } from '../common/walk.ts'

/** Of `/usr` only these: the rest may hold anything, such as a deployment or its tasks. */
const PARTS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'libexec', 'share', 'include']
const ROOTS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64']
const SYSTEM = [...ROOTS, ...['/usr', '/usr/local'].flatMap((folder) => PARTS.map((name) => `${folder}/${name}`))]

/** The service's own package: tasks with their answers are in it. */
const OWN_PACKAGE = dirname(findPackageJSON(import.meta.url) ?? import.meta.filename)

/** The folders with the system's programs and compilers, as arguments of bubblewrap. */
export function systemFolders(hidden: readonly string[]): string[] {
  const compilers = toolchains().filter((path) => !SYSTEM.some((folder) => isInside(path, folder)))
  return [...SYSTEM, ...compilers].flatMap((path) => [...parents(path), ...expose(path, hidden)])
}

/** A folder that the agent needs, although it may lie in one of the deployment; others of those may lie in it. */
export function neededFolder(path: string, hidden: readonly string[]): string[] {
  const others = hidden.filter((each) => each !== path && !isInside(path, each))
  return [...parents(path), ...expose(path, others)]
}

/** More would take seconds to mount. */
const CHILDREN_MAX = 3000

/** Shows what is there: a link as a link, a folder that holds something hidden by its other children. A mount over that would still name it. */
function expose(path: string, hidden: readonly string[]): string[] {
  if (!existsLink(path) || hidden.some((each) => each === path || isInside(path, each))) return []
  const found = lstatSync(path)
  if (found.isSymbolicLink()) return ['--symlink', readlinkSync(path), path]
  // Also one that is not there yet: it would show once it is made.
  const inside = found.isDirectory() ? hidden.filter((each) => isInside(each, path)) : []
  if (inside.length === 0) return ['--ro-bind-try', path, path]
  const names = unlessGone(() => readdirSync(path)) ?? []
  if (names.length > CHILDREN_MAX) return ['--ro-bind', path, path, ...inside.filter(existsLink).flatMap(cover)]
  return ['--dir', path, ...names.flatMap((name) => expose(join(path, name), hidden))]
}

const cover = (path: string): string[] =>
  lstatSync(path).isDirectory() ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path]

const existsLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

const isInside = (path: string, folder: string): boolean => path.startsWith(folder === '/' ? '/' : `${folder}/`)

/** Made first: those that bubblewrap makes itself are only open to root. */
export function parents(path: string): string[] {
  const above = path.split('/').slice(1, -1)
  return above.flatMap((_, index) => ['--dir', `/${above.slice(0, index + 1).join('/')}`])
}

const KEPT_MS = 60_000
const kept = new Map<string, { readonly paths: readonly string[]; readonly until: number }>()

/** Every path by which these and the service's package can be reached: as given, through links, hard links, and other mounts of their disks. Looked up once a minute. */
export function everyPathTo(folders: readonly string[]): readonly string[] {
  const key = folders.join('\0')
  const known = kept.get(key)
  if (known !== undefined && known.until > performance.now()) return known.paths
  const paths = findPathsTo(folders)
  kept.clear()
  kept.set(key, { paths, until: performance.now() + KEPT_MS })
  return paths
}

function findPathsTo(folders: readonly string[]): readonly string[] {
  const mounts = mountsNow()
  const known = [...folders, OWN_PACKAGE].flatMap((path) => [resolve(path), ...(existsSync(path) ? [realpathSync(path)] : [])])
  const all = new Set([...known, ...known.flatMap((path) => aliasesOf(path, mounts))])
  // One that holds the system's programs cannot be hidden as a whole.
  const hidden = [...all].filter((path) => !SYSTEM.some((folder) => folder === path || isInside(folder, path)))
  return [...hidden, ...hardLinksTo(hidden.filter((path) => path !== OWN_PACKAGE))]
}

const WALKED_MAX = 20_000
const FOUND_BYTES_MAX = 64 * 1024 * 1024

/** Other names of their files in the system's folders, which lie on the same disk. */
function hardLinksTo(folders: readonly string[]): readonly string[] {
  const linked = new Set(folders.filter((path) => existsSync(path)).flatMap(linkedFiles))
  const system = SYSTEM.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
  if (linked.size === 0 || system.length === 0) return []
  const found = spawnSync('find', [...system, '-xdev', '-type', 'f', '-links', '+1', '-printf', '%D %i %p\\0'], {
    env: { PATH: '/usr/bin:/bin' },
    encoding: 'utf8',
    maxBuffer: FOUND_BYTES_MAX,
  })
  return found.stdout.split('\0').flatMap((line) => {
    const [, file = '', path = ''] = /^(\d+ \d+) (.*)$/s.exec(line) ?? []
    return linked.has(file) && !folders.some((folder) => isInside(path, folder)) ? [path] : []
  })
}

/** By device and number. Only the first of very many: a folder of packages has them too. */
function linkedFiles(folder: string): readonly string[] {
  const files: string[] = []
  let walked = 0
  for (const { stats } of walk(folder)) {
    if ((walked += 1) > WALKED_MAX) break
    if (stats.isFile() && stats.nlink > 1) files.push(`${stats.dev} ${stats.ino}`)
  }
  return files
}

interface Mount {
  readonly device: string
  /** What of the disk is mounted. */
  readonly root: string
  readonly at: string
}

function mountsNow(): readonly Mount[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => {
    const [, , device = '', root = '', at = ''] = line.split(' ').map(unescaped)
    return { device, root, at }
  })
}

/** Blanks and backslashes are written as octal numbers. */
const unescaped = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))

function aliasesOf(path: string, mounts: readonly Mount[]): readonly string[] {
  // The last of the deepest is the one that is seen.
  const above = mounts.filter(({ at }) => at === path || isInside(path, at))
  const depth = Math.max(0, ...above.map(({ at }) => at.length))
  const home = above.findLast(({ at }) => at.length === depth)
  if (home === undefined) return []
  const onDisk = join(home.root, relative(home.at, path))
  return mounts.flatMap(({ device, root, at }) => {
    if (device !== home.device) return []
    if (isInside(root, onDisk)) return [at]
    return onDisk === root || isInside(onDisk, root) ? [join(at, relative(root, onDisk))] : []
  })
}
