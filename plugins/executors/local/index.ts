/** Runs an agent as an ordinary process with its own folder, environment and limits, but without isolation. */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { setPriority } from 'node:os'
import { define, type Executor, type Launch } from '../../../src/contract/index.ts'
import { supervise, EXIT_NOT_STARTED, type CommandEnd } from '../common/supervise.ts'
import { playEpisode } from '../common/episode.ts'
import { removeLeftovers, type Folder } from '../common/folder.ts'
import { readLimits, type EpisodeLimits } from '../common/limits.ts'
import { watch } from '../common/watch.ts'
import { familyOf } from './family.ts'

/** Agents have lower priority than the service. */
const NICENESS = 10
const KEPT = ['PATH', 'TMPDIR', 'LANG'] as const

export default define('executor', {
  contains: false,

  async make(config) {
    const limits = readLimits(config)
    await removeLeftovers()
    const local: Executor = {
      run: (play, signal) =>
        playEpisode(play, signal, {
          model: play.model,
          limits,
          run: (folder) => runIn(folder, play.launch(folder.root), limits, signal),
        }),
    }
    return local
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
      watch: (end) => watch(folder, family.members, limits, end),
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
      env: { ...kept, HOME: root, ...env, SVC_EPISODE: mark },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    if (child.pid !== undefined) lower(child.pid)
    return child
  } catch {
    return null
  }
}

function lower(pid: number): void {
  try {
    setPriority(pid, NICENESS)
  } catch {}
}
