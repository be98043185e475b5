/** Where an install keeps its things on a person's machine. */
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { hasCode } from './failure.ts'

const DEFAULT_DESTINATION = 'reef-harness'

/** Of the variables rather than the account, so that whoever runs a command decides. */
export const homeOf = (env: NodeJS.ProcessEnv): string => resolve(nonBlank(env['HOME']) ?? homedir())

/** The harness's folder, without links on the way to it: one folder has one install, however it was named. */
export const destinationOf = (argument: string): string => realPath(resolve(argument))

/** Where it goes when nobody named a folder, in the order they are tried. */
export const defaultDestinations = (adapter: string): readonly string[] => [
  DEFAULT_DESTINATION,
  `${DEFAULT_DESTINATION}-${adapter}`,
  ...Array.from({ length: 8 }, (_, index) => `${DEFAULT_DESTINATION}-${adapter}-${index + 2}`),
]

/** Where the agent's program goes. */
export function prefixOf(argument: string | undefined, adapter: string, env: NodeJS.ProcessEnv): string {
  if (nonBlank(argument) !== undefined) return resolve(argument ?? '')
  return resolve(nonBlank(env['SVC_HARNESS_PREFIX']) ?? join(homeOf(env), '.local', 'share', DEFAULT_DESTINATION), adapter)
}

export function installFolder(home: string, destination: string): string {
  return join(installsFolder(home), createHash('sha256').update(realPath(destination)).digest('hex'))
}

export const installsFolder = (home: string): string => join(home, '.reef', 'installs')

export const capturesFolder = (home: string): string => join(home, '.reef', 'captures')

export const commandFolder = (home: string): string => join(home, '.local', 'bin')

/** What is in an install folder. */
export const inFolder = (folder: string) => ({
  record: join(folder, 'record.json'),
  wrapper: join(folder, 'wrapper.mjs'),
  token: join(folder, 'token'),
  env: join(folder, 'env'),
  /** What the agent keeps from one session to the next. */
  state: join(folder, 'state'),
  runs: join(folder, 'runs'),
  /** The scenario that an install is making, until its record says so. */
  start: join(folder, 'start.json'),
  /** Held by an install under way. */
  lock: join(folder, 'lock'),
})

export const commandOf = (adapter: string): string => `svc-${adapter}`

/** Also of what is not there yet: the part that is there without links, the rest as it is spelt. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error
    return join(realPath(dirname(path)), basename(path))
  }
}

export const nonBlank = (text: string | undefined): string | undefined => (text === undefined || text.trim() === '' ? undefined : text)
