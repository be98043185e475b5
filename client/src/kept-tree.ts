/**
 * Trees of releases that this machine wrote into folders, kept in the person's own data folder. The release file in the folder itself
 * says the same to people and programs, and may have come with a repository: nothing is ever believed of it.
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { TreeFailure } from './failure.ts'
import { mkdirpSync, realPath } from './folders.ts'
import { field, parseJson } from './transport.ts'

interface KeptTree {
  /** The path it was written to, without links. */
  readonly folder: string
  /** Which folder that is, wherever it is moved. */
  readonly identity: string
  /** The text of its release file. */
  readonly release: string
}

/** HOME wins over the account's home, so that a caller can choose. */
export function homeOf(env: NodeJS.ProcessEnv): string {
  const home = env['HOME'] ?? ''
  return resolve(home.trim() === '' ? homedir() : home)
}

/** The text of the release file as it was last written here by this person; null for a folder that they wrote nothing to. */
export function keptRelease(home: string, root: string): string | null {
  const folder = realPath(root)
  return (treeIn(placeOf(home, folder)) ?? movedTree(home, folder))?.release ?? null
}

/** Whether this is kept of the folder, in the place where it lies now. */
export const isKept = (home: string, root: string, release: string): boolean => treeIn(placeOf(home, realPath(root)))?.release === release

/** The folder must exist. Whole on the disk before it counts. */
export function keepRelease(home: string, root: string, release: string): void {
  const folder = realPath(root)
  const place = placeOf(home, folder)
  mkdirpSync(treesIn(home), { mode: 0o700 })
  const part = `${place}.${process.pid}`
  const file = openSync(part, 'w', 0o600)
  try {
    writeFileSync(file, JSON.stringify({ folder, identity: identityOf(folder), release } satisfies KeptTree))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(part, place)
}

export function forgetRelease(home: string, root: string): void {
  rmSync(placeOf(home, realPath(root)), { force: true })
  if (existsSync(treesIn(home)) && readdirSync(treesIn(home)).length === 0) rmdirSync(treesIn(home))
}

const treesIn = (home: string): string => join(home, '.svc', 'trees')

const placeOf = (home: string, folder: string): string => join(treesIn(home), `${createHash('sha256').update(folder).digest('hex')}.json`)

/** A damaged one is never taken for none: it says which key is trusted. */
function treeIn(place: string): KeptTree | null {
  if (!existsSync(place)) return null
  const found = parsed(readFileSync(place, 'utf8'))
  if (found !== null) return found
  throw new TreeFailure(`${place} is damaged, so it does not say which key is trusted; remove it and try again with the key of the service`)
}

function parsed(text: string): KeptTree | null {
  const found = parseJson(text)
  const [folder, identity, release] = ['folder', 'identity', 'release'].map((name) => field(found, name))
  const isWhole = typeof folder === 'string' && typeof identity === 'string' && typeof release === 'string'
  return isWhole ? { folder, identity, release } : null
}

/** The kept tree of the place that this very folder was moved from. A copy, or a clone, is another folder. */
function movedTree(home: string, folder: string): KeptTree | null {
  if (!existsSync(treesIn(home)) || !existsSync(folder)) return null
  const identity = identityOf(folder)
  const names = readdirSync(treesIn(home)).filter((name) => name.endsWith('.json'))
  const all = names.map((name) => parsed(readFileSync(join(treesIn(home), name), 'utf8')))
  return all.find((tree) => tree?.identity === identity && !existsSync(tree.folder)) ?? null
}

function identityOf(folder: string): string {
  const { ino, birthtimeNs } = lstatSync(folder, { bigint: true })
  return `${ino}-${birthtimeNs}`
}
