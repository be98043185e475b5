/**
 * A release's tree in a folder. What is promised, whatever the service sent and whenever the process dies:
 *
 * - Nothing outside the folder is written, removed or read: no path leads out of it, and none goes through a symbolic link.
 * - A tree that cannot be written whole is refused before anything changes.
 * - Each file is the old one or the new one, never half of one. What is kept of the folder in the person's home names the last release that
 *   was written whole, and lists every file of a release that may be there, begun ones included: after a kill the same call, or one for
 *   another release, completes.
 * - Files that this machine wrote and the new tree lacks are removed, with the folders that become empty; everything else in the folder is
 *   somebody's own and stays. Nothing that the folder holds says what is whose.
 * - What is already as it should be is not touched. Two writers at once do not mix their trees: one of them, or both, are refused.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { isAlive } from './alive.ts'
import { TreeFailure } from './failure.ts'
import { forgetRelease, isKept, keepRelease, keptRelease } from './kept-tree.ts'
import { FORMER_RELEASE_FILE, RELEASE_FILE } from './names.ts'
import { isTrust, type Trust } from './signing/trust.ts'
import { field, parseJson } from './transport.ts'
import type { Manifest } from './wire.generated.ts'
import { mkdirpSync } from './folders.ts'

/** Path to text. */
export type TreeFiles = Readonly<Record<string, string>>

export interface TreeChange {
  /** Sorted; the release file among them when it was written. Empty together with `removed` when all was there already. */
  readonly written: readonly string[]
  readonly removed: readonly string[]
}

/** Names below the root that are never a tree's. */
const RESERVED_PREFIX = '.svc-harness-'
/** Earlier versions write under it; they may share the folder. */
const FORMER_PREFIX = '.reef-harness-'
/** Holds what is not finished yet, by the id of the process that writes. */
const DESK = 'writing-'
/** Empty until a first release is there whole. */
const NOTHING: Release & { readonly release_id: string; readonly content_id: string } = { release_id: '', content_id: '', files: [] }
const PATH_BYTES_MAX = 4096
const NAME_BYTES_MAX = 255

/** Throws a `TreeFailure` for the first path that is not a plain file below the root on every machine, or two that some machine takes for one. */
export function checkPaths(files: TreeFiles): void {
  const owners = new Map<string, string>()
  for (const [path, text] of Object.entries(files)) {
    const problem = pathProblem(path) ?? (text.isWellFormed() ? null : 'has a text that is not valid Unicode')
    if (problem !== null) throw refused(path, problem)
    const other = owners.get(folded(path))
    if (other !== undefined) throw refused(path, `is the same file as ${JSON.stringify(other)} where case or accents do not count`)
    owners.set(folded(path), path)
  }
  for (const path of Object.keys(files)) {
    const parent = foldersOf(path).find((folder) => owners.has(folded(folder)))
    if (parent !== undefined) throw refused(path, `needs a folder ${JSON.stringify(parent)} that is a file of the same tree`)
  }
}

function pathProblem(path: string): string | null {
  if (!path.isWellFormed()) return 'is not valid Unicode'
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `is longer than ${PATH_BYTES_MAX} bytes`
  if (/\p{Cc}/u.test(path)) return 'holds a control character'
  if (path.includes('\\')) return 'holds a backslash'
  if (path.startsWith('/') || /^[a-z]:/iu.test(path)) return 'is absolute'
  const names = path.split('/')
  if (names.some((name) => name === '' || name === '.' || name === '..')) return 'has a segment that is empty, . or ..'
  if (names.some((name) => Buffer.byteLength(name) > NAME_BYTES_MAX)) return `has a name longer than ${NAME_BYTES_MAX} bytes`
  const reserved = [RESERVED_PREFIX, FORMER_PREFIX].find((prefix) => folded(path).startsWith(prefix))
  return reserved === undefined ? null : `takes a name that begins with ${reserved}`
}

/** Whether a path may be a tree's at all: a release file may list anything. */
export const isTreePath = (path: string): boolean => pathProblem(path) === null

const folded = (path: string): string => path.normalize('NFC').toLowerCase()

function foldersOf(path: string): string[] {
  const names = path.split('/')
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'))
}

const refused = (path: string, problem: string): TreeFailure =>
  new TreeFailure(`the tree is refused, nothing was written: path ${JSON.stringify(path)} ${problem}`)

/**
 * Makes the folder hold exactly these files of a release, beside whatever else is in it. The text of the release file is a JSON object whose
 * `files` lists the paths; it is kept in that home too, where the next writer finds what is the release's. No home: a folder of the caller's
 * own, which goes with it.
 */
export function writeTree(root: string, files: TreeFiles, releaseText: string, home: string | null): TreeChange {
  checkPaths(files)
  mkdirpSync(root)
  const folder = realpathSync(root)
  const texts = new Map([...Object.entries(files), [RELEASE_FILE, releaseText]])
  const isTidy = !readdirSync(folder).some((name) => name === FORMER_RELEASE_FILE || isAbandoned(name))
  const isKnown = home === null || isKept(home, folder, releaseText)
  if (isTidy && isKnown && [...texts].every(([path, text]) => holds(folder, path, text))) return { written: [], removed: [] }
  return alone(folder, (desk) => replace(folder, desk, texts, home))
}

/** What the release file says of a release that needs nothing of the machine. */
export const releaseText = (
  { release_id, content_id, files }: Pick<Manifest, 'release_id' | 'content_id' | 'files'>,
  trust: Trust | null,
): string => `${JSON.stringify({ release_id, content_id, files: Object.keys(files).sort(), ...(trust && { trust }) }, null, 2)}\n`

/** The key and release that this folder trusts: null where this person pulled nothing, also after the folder went. */
export function trustOf(root: string, home: string): Trust | null {
  const trust = field(parseJson((existsSync(root) ? keptRelease(home, root) : null) ?? ''), 'trust')
  return isTrust(trust) ? trust : null
}

/** The desk of a process that was killed. */
function isAbandoned(name: string): boolean {
  const pid = deskOwner(name)
  return pid !== undefined && !isAlive(pid)
}

/** A path that a link is part of holds nothing: what it leads to is not the tree's. */
function holds(folder: string, path: string, text: string): boolean {
  const bytes = Buffer.from(text)
  return isOwnFile(folder, path) && lookAt(folder, path)?.size === bytes.length && readFileSync(join(folder, path)).equals(bytes)
}

function isOwnFile(folder: string, path: string): boolean {
  return foldersOf(path).every((parent) => lookAt(folder, parent)?.isDirectory()) && lookAt(folder, path)?.isFile() === true
}

/** What the name itself is; a link is not followed. */
const lookAt = (folder: string, path: string): Stats | undefined => lstatSync(join(folder, path), { throwIfNoEntry: false })

/**
 * Every writer leaves its mark first and looks for others then: of two at once at least one sees the other. A mark whose process is gone was left
 * by a kill.
 */
function alone<T>(folder: string, work: (desk: string) => T): T {
  const own = `${RESERVED_PREFIX}${DESK}${process.pid}`
  const desk = join(folder, own)
  rmSync(desk, { recursive: true, force: true })
  mkdirSync(desk)
  try {
    for (const name of readdirSync(folder)) {
      const pid = name === own ? undefined : deskOwner(name)
      if (pid === undefined) continue
      if (isAlive(pid)) throw new TreeFailure(`process ${pid} is writing to ${folder}: wait until it is done and try again`)
      rmSync(join(folder, name), { recursive: true, force: true })
    }
    return work(desk)
  } finally {
    rmSync(desk, { recursive: true, force: true })
  }
}

function deskOwner(name: string): number | undefined {
  const prefix = [RESERVED_PREFIX, FORMER_PREFIX].find((each) => name.startsWith(each + DESK))
  const digits = prefix === undefined ? '' : name.slice((prefix + DESK).length)
  return /^[1-9]\d{0,9}$/.test(digits) ? Number(digits) : undefined
}

/** Removing comes first: where case does not count, a file that was renamed by its case alone would go with its old name. */
function replace(folder: string, desk: string, texts: ReadonlyMap<string, string>, home: string | null): TreeChange {
  requireWay(folder, RELEASE_FILE, [])
  const before = releaseIn(folder, home)
  const leaving = before.files.filter((path) => isTreePath(path) && !texts.has(path))
  for (const path of texts.keys()) requireWay(folder, path, leaving)
  if (home !== null) announce(folder, home, before, texts)
  const removed = leaving.filter((path) => isOwnFile(folder, path)).sort()
  for (const path of removed) remove(folder, path)
  const written = [...texts].filter(([path, text]) => !holds(folder, path, text))
  for (const [path, text] of written) if (path !== RELEASE_FILE) write(folder, desk, path, text)
  const release = texts.get(RELEASE_FILE) ?? ''
  if (home !== null) keepRelease(home, folder, release)
  if (!holds(folder, RELEASE_FILE, release)) write(folder, desk, RELEASE_FILE, release)
  if (isOwnFile(folder, FORMER_RELEASE_FILE)) rmSync(join(folder, FORMER_RELEASE_FILE))
  return { written: written.map(([path]) => path).sort(), removed }
}

interface Release {
  readonly files: readonly string[]
}

/** The release last written here. Where there was none, one without a name that holds nothing. */
function releaseIn(folder: string, home: string | null): Release {
  const found = parseJson((home === null ? null : keptRelease(home, folder)) ?? '')
  return isRelease(found) ? found : NOTHING
}

function isRelease(value: unknown): value is Release {
  const listed = field(value, 'files')
  return Array.isArray(listed) && listed.every((path) => typeof path === 'string')
}

/** Before the first new file is there, it is listed: else a kill right after it would leave a file that no release owns. */
function announce(folder: string, home: string, before: Release, texts: ReadonlyMap<string, string>): void {
  const files = new Set([...before.files, ...texts.keys()])
  files.delete(RELEASE_FILE)
  keepRelease(home, folder, JSON.stringify({ ...before, files: [...files].sort() }))
}

/** Whatever stands where the file or one of its folders must be, unless it leaves with the old release. */
function requireWay(folder: string, path: string, leaving: readonly string[]): void {
  for (const part of [...foldersOf(path), path]) {
    const found = lookAt(folder, part)
    if (found === undefined) return
    if (found.isSymbolicLink()) throw refused(path, `goes through ${JSON.stringify(part)}, a symbolic link here: remove it and try again`)
    const isFitting = part === path ? found.isFile() : found.isDirectory()
    if (isFitting) continue
    if (leaving.some((old) => old === part || old.startsWith(`${part}/`))) return
    throw refused(path, `is blocked by ${JSON.stringify(part)}, which is something else here: move it away and try again`)
  }
}

/** Files of a release that go for good, with what a killed writer left. One that a link leads to is not the tree's, and stays. */
export function removeFromTree(root: string, paths: readonly string[], home: string): void {
  const folder = realpathSync(root)
  for (const path of paths) if (isTreePath(path) && isOwnFile(folder, path)) remove(folder, path)
  for (const name of readdirSync(folder)) if (isAbandoned(name)) rmSync(join(folder, name), { recursive: true, force: true })
  for (const name of [RELEASE_FILE, FORMER_RELEASE_FILE]) if (isOwnFile(folder, name)) rmSync(join(folder, name))
  forgetRelease(home, folder)
}

/** Folders that hold something of their own stay. */
function remove(folder: string, path: string): void {
  rmSync(join(folder, path))
  for (const parent of foldersOf(path).toReversed()) {
    if (readdirSync(join(folder, parent)).length > 0) return
    rmdirSync(join(folder, parent))
  }
}

/** Complete on the disk before it has its name. */
function write(folder: string, desk: string, path: string, text: string): void {
  const part = join(desk, 'part')
  const file = openSync(part, 'w')
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  mkdirpSync(dirname(join(folder, path)))
  renameSync(part, join(folder, path))
}
