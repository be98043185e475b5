/** A simulated user's machine: its own home, the pinned Node, and nothing else of this machine. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

/** The agents take more than a gigabyte, so they are downloaded once and kept here. */
const CACHE = process.env['SVC_AGENTS_CACHE'] ?? join(import.meta.dirname, '../../../node_modules/.cache/svc-agents')

export interface Ended {
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Running {
  /** Ends the program alone, at once. */
  kill(): Promise<void>
  /** Kills what it started too: an agent outlives its wrapper. */
  killAll(): void
  /** Resolves when its output is closed. */
  readonly ended: Promise<Ended>
}

export type Variables = Readonly<Record<string, string>>

export interface Home {
  readonly folder: string
  /** The working folder, outside any project. */
  readonly work: string
  /** In the work folder, without input. */
  start(program: string, args: readonly string[], env?: Variables): Running
  run(program: string, args: readonly string[], env?: Variables): Promise<Ended>
  /** npm's registry settings of this machine. */
  readonly npm: Variables
  close(): void
}

/** Beside the cache, since some agents refuse a home in the temporary folder. */
export function makeHome(): Home {
  mkdirSync(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'home-'))
  const work = mkdtempSync(join(tmpdir(), 'svc-agents-work-'))
  const path = [join(folder, '.local/bin'), dirname(process.execPath), ...systemPath()].join(delimiter)
  const start: Home['start'] = (program, args, env = {}) => spawned(program, args, work, { HOME: folder, PATH: path, ...env })
  return {
    folder,
    work,
    start,
    run: (program, args, env) => start(program, args, env).ended,
    npm: {
      SVC_HARNESS_PREFIX: CACHE,
      npm_config_userconfig: npmSetting('userconfig'),
      npm_config_cache: npmSetting('cache'),
      ...fromNpm(),
    },
    close() {
      for (const each of [folder, work]) rmSync(each, { recursive: true, force: true })
    },
  }
}

/** PATH without the entries that npm adds. */
const systemPath = (): readonly string[] =>
  (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '' && !folder.includes('node_modules'))

const npmSetting = (name: string): string =>
  execFileSync('npm', ['config', 'get', name], { stdio: ['ignore', 'pipe', 'ignore'] })
    .toString()
    .trim()

/** Settings that are variables, such as a proxy or a registry. */
function fromNpm(): Variables {
  const named = Object.entries(process.env).filter(([name]) =>
    /^(?:npm_config_registry|(?:https?|no)_proxy|node_extra_ca_certs)$/i.test(name),
  )
  return Object.fromEntries(named.map(([name, value = '']) => [name, value]))
}

/** In its own process group, to find an agent without its wrapper. */
function spawned(program: string, args: readonly string[], cwd: string, env: Variables): Running {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const printed = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (printed.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (printed.err += text))
  const gone = once(child, 'exit')
  const ended = once(child, 'close').then(([code]: unknown[]): Ended => ({ code: typeof code === 'number' ? code : null, ...printed }))
  // An unawaited promise must not be an unhandled rejection.
  for (const end of [gone, ended]) end.catch(() => undefined)
  return {
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
    killAll: () => void (child.pid === undefined || killGroup(child.pid)),
    ended,
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
