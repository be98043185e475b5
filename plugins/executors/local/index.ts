/** Runs an agent as an ordinary process with its own folder, environment and limits, but without isolation. */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { delimiter } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { define, unavailable, type Launch } from '../../../src/contract/index.ts'
import { playEpisode } from '../common/episode.ts'
import { removeLeftovers, type Folder } from '../common/folder.ts'
import { readLimits, type EpisodeLimits } from '../common/limits.ts'
import { watch, type Processes } from '../common/processes.ts'
import { supervise, EXIT_NOT_STARTED, type CommandEnd, type Supervision } from '../common/supervise.ts'
import { programsOf, toolchains } from '../common/toolchains.ts'
import { unlessGone } from '../common/walk.ts'

/** Agents have the lowest priority. */
const NICENESS = 19
const KEPT = ['TMPDIR', 'LANG'] as const

export default define('executor', {
  contains: false,

  async make(config) {
    const limits = readLimits(config)
    await removeLeftovers()
    return {
      run: (play, signal) => {
        const run = (folder: Folder): Promise<CommandEnd> => runIn(folder, play.launch(folder.root), limits, signal)
        return playEpisode(play, signal, { model: play.model, limits, run })
      },
    }
  },
})

async function runIn(folder: Folder, launch: Launch, limits: EpisodeLimits, signal: AbortSignal): Promise<CommandEnd> {
  const mark = randomBytes(16).toString('hex')
  const child = start(folder, launch, mark)
  if (child === null) return { exitCode: EXIT_NOT_STARTED, stdout: '', stderr: '', ended: 'start' }
  const family = familyOf(child.pid ?? null, `SVC_EPISODE=${mark}`)
  const release = guard(child.pid ?? null)
  try {
    return await supervise(child, {
      timeoutSeconds: launch.timeoutSeconds,
      signal,
      kill: family.kill,
      allEnded: family.allEnded,
      watch: (end) => watch({ folder, processes: family.members, limits }, end),
    })
  } finally {
    release()
  }
}

/** Waits for the end of its input, which comes when its parent ends. */
const GUARD = 'read -r _; kill -s KILL -- "-$1" 2>/dev/null'

/** Kills the agent's process group if the service or its thread is killed. Returns how to release it. */
function guard(pid: number | null): () => void {
  if (pid === null) return () => undefined
  const watching = spawn('/bin/sh', ['-c', GUARD, 'sh', String(pid)], { env: {}, stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  watching.on('error', () => undefined)
  watching.stdin.on('error', () => undefined)
  return () => void watching.kill('SIGKILL')
}

/** Null for a command that can never start, such as one without a name. */
function start({ root, workspace }: Folder, { argv: [command = '', ...words], env }: Launch, mark: string): ChildProcess | null {
  const kept = Object.fromEntries(KEPT.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))
  try {
    const child = spawn(command, words, {
      cwd: workspace,
      env: { ...kept, ...pathHere(), HOME: root, ...env, SVC_EPISODE: mark },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    if (child.pid !== undefined) lower(child.pid)
    return child
  } catch {
    return null
  }
}

/** Compilers first: the programs of rustup find theirs by the home of a person. */
function pathHere(): Readonly<Record<string, string>> {
  const path = process.env['PATH']
  return path === undefined ? {} : { PATH: [...programsOf(toolchains()), path].join(delimiter) }
}

function lower(pid: number): void {
  try {
    setPriority(pid, NICENESS)
  } catch {}
}

const LOOK_EVERY_MS = 10
const LOOKS_MAX = 400

/** The processes of a command, by parent, by process group, and by a mark in the environment. Without /proc only the group is known. */
function familyOf(pid: number | null, mark: string): Pick<Supervision, 'kill' | 'allEnded'> & { readonly members: Processes } {
  if (pid === null) return { members: () => [], kill: () => undefined, allEnded: async () => undefined }
  const members = (): readonly string[] => membersOf(pid, mark).map((member) => `/proc/${member}`)
  const kill = (): void => {
    // The whole group.
    killProcess(-pid)
    for (const member of membersOf(pid, mark)) killProcess(member)
  }
  const allEnded = async (): Promise<void> => {
    kill()
    for (let looks = 0; members().length > 0; looks += 1) {
      if (looks > LOOKS_MAX) throw unavailable('episode_processes', 'processes of an agent cannot be ended; use the executor sandbox')
      await wait(LOOK_EVERY_MS)
      kill()
    }
  }
  return { members, kill, allEnded }
}

interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
}

function membersOf(leader: number, mark: string): readonly number[] {
  const all = processes()
  const found = new Set(all.filter(({ pid, group }) => pid === leader || group === leader || isMarked(pid, mark)).map(({ pid }) => pid))
  for (let size = 0; size < found.size;) {
    size = found.size
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid)
  }
  return [...found]
}

/** Without zombies. */
function processes(): readonly Process[] {
  const names = unlessGone(() => readdirSync('/proc')) ?? []
  return names.flatMap((name) => {
    const stat = /^\d+$/.test(name) ? unlessGone(() => readFileSync(`/proc/${name}/stat`, 'latin1')) : null
    // The program name in brackets may hold anything, so the fields start after the last bracket.
    const [state = 'X', parent, group] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
    return 'ZX'.includes(state) ? [] : [{ pid: Number(name), parent: Number(parent), group: Number(group) }]
  })
}

function isMarked(pid: number, mark: string): boolean {
  return (unlessGone(() => readFileSync(`/proc/${pid}/environ`, 'latin1')) ?? '').includes(mark)
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}
