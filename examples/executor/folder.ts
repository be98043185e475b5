/**
 * The smallest executor: runs the command in a folder that holds the files, and removes the folder.
 * It keeps nothing apart but the folder and the environment, so this is an example and no place for an agent nobody trusts.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { define, invalid, type Episode, type Executor, type Files, type Launch } from '../../src/contract/index.ts'

const PRINTED_BYTES_MAX = 16 * 1024 * 1024
/** What shells answer for a command that is not there, and for one that was killed. */
const EXIT_NOT_STARTED = 127
const EXIT_KILLED = 137

const folders: Executor = {
  async run(play, signal) {
    const folder = await mkdtemp(join(tmpdir(), 'episode-'))
    try {
      await writeFiles(folder, play.files)
      const ended = await runIn(folder, play.launch(folder), signal)
      return { ...ended, trajectory: await play.readTrajectory(folder) }
    } finally {
      await rm(folder, { recursive: true, force: true })
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

/** However the command ends is an episode; only an abort is none. */
function runIn(cwd: string, { argv: [command = '', ...words], env, timeoutSeconds }: Launch, signal: AbortSignal): Promise<Ended> {
  const options = {
    cwd,
    // Nothing of the service's own environment but where programs are.
    env: { PATH: process.env['PATH'], ...env },
    timeout: timeoutSeconds * 1000,
    killSignal: 'SIGKILL',
    maxBuffer: PRINTED_BYTES_MAX,
    signal,
  } as const
  return new Promise((resolve, reject) => {
    execFile(command, words, options, (error, stdout, stderr) => {
      if (signal.aborted) reject(new Error('the episode was given up', { cause: error }))
      else resolve({ exitCode: exitCodeOf(error), stdout, stderr })
    })
  })
}

function exitCodeOf(error: (Error & { readonly code?: unknown; readonly killed?: boolean }) | null): number {
  if (error === null) return 0
  if (typeof error.code === 'number') return error.code
  return error.code === 'ENOENT' ? EXIT_NOT_STARTED : EXIT_KILLED
}
