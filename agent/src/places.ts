/** Where an install keeps its things on a person's machine. */
import { createHash } from 'node:crypto'
import { existsSync, lstatSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { homeOf } from '@svc-ai/client/shared'
import { realPath } from '@svc-ai/client/folders'

const HARNESS = 'svc-harness'
/** What earlier versions called the same. */
const FORMER_HARNESS = 'reef-harness'

export { homeOf }

/** The harness's folder, without links on the way to it: one folder has one install, however it was named. */
export function destinationOf(argument: string): string {
  const path = realPath(resolve(argument))
  const renamed = renamedHarness(path)
  return renamed !== null && !existsSync(path) && existsSync(renamed) ? renamed : path
}

/** The folder of a harness under its present name; null for one that a person named. */
export const renamedHarness = (path: string): string | null =>
  new RegExp(`^${FORMER_HARNESS}(?:-|$)`).test(basename(path)) ? join(dirname(path), basename(path).replace(FORMER_HARNESS, HARNESS)) : null

/** Where it goes when no folder is named, in the order they are tried. */
export const defaultDestinations = (adapter: string): readonly string[] => [
  HARNESS,
  `${HARNESS}-${adapter}`,
  ...Array.from({ length: 8 }, (_, index) => `${HARNESS}-${adapter}-${index + 2}`),
]

/** Where the agent's program goes. */
export function prefixOf(argument: string | undefined, adapter: string, env: NodeJS.ProcessEnv): string {
  const { programs } = stateFolders(homeOf(env))
  if (nonBlank(argument) === undefined) return resolve(nonBlank(env['SVC_HARNESS_PREFIX']) ?? programs, adapter)
  const [named, former] = [resolve(argument ?? ''), formerFolders(homeOf(env)).programs]
  return named.startsWith(`${former}/`) && existsSync(programs) ? programs + named.slice(former.length) : named
}

export function installFolder(home: string, destination: string): string {
  return join(installsFolder(home), createHash('sha256').update(realPath(destination)).digest('hex'))
}

const foldersIn = (home: string, state: string, harness: string) => ({
  folder: join(home, state),
  installs: join(home, state, 'installs'),
  captures: join(home, state, 'captures'),
  /** The agents' programs. */
  programs: join(home, '.local', 'share', harness),
})

/** What installs keep in a person's home. */
export const stateFolders = (home: string) => foldersIn(home, '.svc', HARNESS)

export const formerFolders = (home: string) => foldersIn(home, '.reef', FORMER_HARNESS)

export const installsFolder = (home: string): string => usedOf(home, 'installs')

export const capturesFolder = (home: string): string => usedOf(home, 'captures')

/** The one of an earlier version until it can be renamed. */
function usedOf(home: string, name: 'installs' | 'captures'): string {
  const [now, former] = [stateFolders(home)[name], formerFolders(home)[name]]
  return !existsSync(now) && isRealFolder(former) ? former : now
}

/** A folder itself, not a link to one. */
export const isRealFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

export const commandFolder = (home: string): string => join(home, '.local', 'bin')

/** What is in an install folder. */
export const inFolder = (folder: string) => ({
  record: join(folder, 'record.json'),
  wrapper: join(folder, 'wrapper.mjs'),
  token: join(folder, 'token'),
  /** What the token that was made for this machine is called. */
  tokenName: join(folder, 'token-name.json'),
  env: join(folder, 'env'),
  /** The key that is trusted, and the newest step that was seen. */
  trust: join(folder, 'trust.json'),
  /** What the agent keeps from one session to the next. */
  state: join(folder, 'state'),
  runs: join(folder, 'runs'),
  /** The scenario that an install is making, until its record says so. */
  start: join(folder, 'start.json'),
  /** Held by an install under way. */
  lock: join(folder, 'lock'),
})

export const commandOf = (adapter: string): string => `svc-${adapter}`

export const nonBlank = (text: string | undefined): string | undefined => (text === undefined || text.trim() === '' ? undefined : text)
