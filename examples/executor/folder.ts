/**
 * The smallest executor: runs the command in a folder that holds the files, and removes the folder.
 * It isolates only the folder and the environment, so it is an example, not for untrusted agents.
 */
import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import type { Readable } from 'node:stream'
import {
  define,
  invalid,
  unavailable,
  type Episode,
  type EpisodeEnd,
  type Executor,
  type Files,
  type Launch,
} from '../../src/contract/index.ts'

const PRINTED_CHARACTERS_MAX = 16 * 1024 * 1024
/** Shell exit codes: command not found, and killed. */
const EXIT_NOT_STARTED = 127
const EXIT_KILLED = 137

const folders: Executor = {
  async run(play, signal) {
    if (play.dependencies !== undefined) throw unavailable('no_dependencies', 'this executor shows no installed packages')
    const root = await mkdtemp(join(tmpdir(), 'episode-'))
    const workspace = join(root, 'workspace')
    try {
      await mkdir(workspace)
      await writeFiles(root, play.files(play.model))
      await writeFiles(workspace, play.workspace)
      const ended = await runIn(root, play.launch(root), signal)
      const episode = { ...ended, trajectory: await play.readTrajectory(root) }
      await play.inspect?.(workspace, episode)
      return episode
    } finally {
      await rm(root, { recursive: true, force: true })
    }
  },
}

export default define('executor', { make: () => folders })

async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const target = join(folder, path)
    if (!target.startsWith(folder + sep)) throw invalid('bad_path', `${JSON.stringify(path)} leads out of the folder; leave out ..`)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, text)
  }
}

type Ended = Omit<Episode, 'trajectory'>

/** Every end of the command is an episode; only an abort throws. */
async function runIn(root: string, launch: Launch, signal: AbortSignal): Promise<Ended> {
  signal.throwIfAborted()
  const child = start(root, launch)
  let ended: EpisodeEnd | null = null
  const end = (why: EpisodeEnd | null): void => {
    ended ??= why
    endGroup(child)
  }
  const abort = (): void => end(null)
  signal.addEventListener('abort', abort)
  const timer = setTimeout(end, launch.timeoutSeconds * 1000, 'time')
  const printed = [child.stdout, child.stderr].map((stream) => reader(stream, () => end('output')))
  // Kills what it started too.
  child.once('exit', abort)
  const exitCode = await exitOf(child)
  clearTimeout(timer)
  signal.removeEventListener('abort', abort)
  signal.throwIfAborted()
  const [stdout = '', stderr = ''] = printed.map((text) => text())
  const why = exitCode === null ? 'start' : ended
  return { exitCode: exitCode ?? EXIT_NOT_STARTED, stdout, stderr, ...(why !== null && { ended: why }) }
}

function start(root: string, { argv: [command = '', ...words], env }: Launch): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(command, words, {
    cwd: join(root, 'workspace'),
    // Of the service's environment only PATH.
    env: { PATH: process.env['PATH'], HOME: root, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // In its own process group, so that all of it can be killed at once.
    detached: true,
  })
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // No process is left.
  }
}

function reader(stream: Readable, onTooMuch: () => void): () => string {
  let text = ''
  stream.setEncoding('utf8').on('data', (part: string) => {
    if (text.length < PRINTED_CHARACTERS_MAX) text += part
    else onTooMuch()
  })
  return () => text
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return once(child, 'close').then(
    ([code]: unknown[]) => (typeof code === 'number' ? code : EXIT_KILLED),
    () => null,
  )
}
