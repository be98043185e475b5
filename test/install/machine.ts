/** A simulated user's machine: a home, a working folder, a harness folder, a prefix, and its own programs first on PATH. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../support/folder.ts'
import { program } from '../support/programs.ts'
import { IS_SHORT } from '../support/short.ts'

/** As words of a command line. */
export const SHELLS = ['dash', 'bash', 'busybox sh'] as const
/** Where what runs costs more than how a shell reads it. In the short form one shell stands for all; `attacks.test.ts` installs under each. */
export const SHELLS_TRIED = IS_SHORT ? SHELLS.slice(0, 1) : SHELLS

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Kills everything it started. */
  kill(): void
}

export interface Machine {
  readonly root: string
  readonly home: string
  readonly destination: string
  readonly prefix: string
  readonly env: Readonly<Record<string, string>>
  installFolder(): string
  start(words: readonly string[], options?: RunOptions): Running
  run(words: readonly string[], options?: RunOptions): Promise<Ended>
  /** `svc-<adapter> …`, as a person types it. */
  command(args: readonly string[], options?: RunOptions & { readonly adapter?: string }): Promise<Ended>
  npmCalls(): readonly string[]
  /** All new files below the root. */
  made(): readonly string[]
}

interface RunOptions {
  /** Below the root; `work` unless it is named. */
  readonly folder?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly input?: Uint8Array
}

/** Removed after the test, unless a place is given. */
export function makeMachine(node = process.execPath, place = temporaryFolder()): Machine {
  const root = realpathSync(place)
  const [home, work, tools, scratch] = [join(root, 'home'), join(root, 'work'), join(root, 'tools'), join(root, 'scratch')]
  for (const folder of [home, work, tools, scratch]) mkdirSync(folder)
  copyFileSync(join(import.meta.dirname, 'npm.sh'), join(tools, 'npm'))
  chmodSync(join(tools, 'npm'), 0o755)
  symlinkSync(node, join(tools, 'node'))
  const env = { HOME: home, PATH: `${tools}:/usr/bin:/bin`, TMPDIR: scratch, MACHINE: root, LANG: 'C' }
  const destination = join(root, 'harness')
  const before = new Set(namesBelow(root))
  const start: Machine['start'] = (words, options = {}) =>
    startIn(join(root, options.folder ?? 'work'), { ...env, ...options.env }, words, options.input)
  const run: Machine['run'] = (words, options) => start(words, options).ended
  return {
    root,
    home,
    destination,
    prefix: join(root, 'prefix'),
    env,
    installFolder: () => join(home, '.svc/installs', createHash('sha256').update(realpathSync(destination)).digest('hex')),
    start,
    run,
    command: (args, { adapter = 'pi', ...options } = {}) => run([join(home, '.local/bin', `svc-${adapter}`), ...args], options),
    npmCalls: () => linesOf(join(root, 'npm.log')),
    made: () => namesBelow(root).filter((name) => !before.has(name) && name !== 'npm.log'),
  }
}

/** In its own process group, so that it can be killed with everything it started. */
function startIn(cwd: string, env: NodeJS.ProcessEnv, [command = '', ...args]: readonly string[], input?: Uint8Array): Running {
  const child = spawn(command.includes('/') ? command : program(command), args, {
    cwd,
    env,
    detached: true,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  // A shell may stop reading its input.
  child.stdin?.on('error', () => undefined).end(input)
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
  onTestFinished(kill)
  const exit = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve))
  const streams = [child.stdout, child.stderr].map((stream) => (stream === null ? '' : text(stream)))
  const ended = Promise.all([exit, ...streams]).then(([code, out = '', err = '']): Ended => ({ code, out, err }))
  return { child, ended, kill }
}

export function namesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
}

/** Files below the root of a machine that hold this text, by their names. */
export const filesHolding = (machine: Machine, words: string): readonly string[] =>
  namesBelow(machine.root).filter((name) => {
    const path = join(machine.root, name)
    return existsSync(path) && lstatSync(path).isFile() && readFileSync(path, 'latin1').includes(words)
  })

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n')
  } catch {
    return []
  }
}

/** Mode, time and bytes of every file below a folder; without folder times, since locks change them. */
export function stateOf(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(namesBelow(folder).map((name) => [name, stateAt(join(folder, name))]))
}

function stateAt(path: string): string {
  const found = lstatSync(path, { bigint: true })
  const [mode, own] = [found.mode.toString(8), `${found.ino} ${found.mtimeNs}`]
  if (found.isSymbolicLink()) return `${mode} ${own} ${readlinkSync(path)}`
  return found.isFile() ? `${mode} ${own} ${createHash('sha256').update(readFileSync(path)).digest('hex')}` : mode
}

export const permissionsAt = (path: string): string => (lstatSync(path).mode & 0o777).toString(8)
