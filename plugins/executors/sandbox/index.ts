/** Runs an agent in a sandbox of bubblewrap's: it sees its own folder and the programs of the system, and reaches the model and nothing else. */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { Duplex, type Readable, type Writable } from 'node:stream'
import { define, unavailable, type Executor, type Launch, type ModelAddress, type Play } from '../../../src/contract/index.ts'
import { attend, EXIT_NOT_STARTED, type Ended } from '../common/attend.ts'
import { playEpisode, written } from '../common/episode.ts'
import { removeLeftovers, type Folder } from '../common/folder.ts'
import { readLimits, type Limits } from '../common/limits.ts'
import { tasksMax } from '../common/processes.ts'
import { watch } from '../common/watch.ts'
import { bubblewrapArguments, findBubblewrap, furnish, INSIDE, PATH_INSIDE, socketOf, type Bubblewrap } from './bubblewrap.ts'
import { namespaceOf } from './namespace.ts'
import { openRelay } from './relay.ts'
import { seccompFilter } from './seccomp.ts'
import { selfTest } from './self-test.ts'
import { asUser, chooseUser } from './user.ts'

/** Free in every sandbox, since each has a network of its own. */
const PORT = 17017
/** Agents wait for the service, and not the other way round. */
const NICENESS = 10
const OPEN_FILES_MAX = 1024
const BLOCK_BYTES = 512
/** What the shell limits before it becomes bubblewrap: files left by a crash, open files, the size of one file. A limit that is lower already stays. */
const LIMITED = 'ulimit -c 0; ulimit -n "$1" 2>/dev/null; ulimit -f "$2" 2>/dev/null; shift 2; exec "$@"'
/** Open files of the start, beside the usual three. */
const FILES = { arguments: 3, status: 4, notes: 5, filter: 6 } as const

let tested: Promise<string | null> | null = null

export default define('executor', {
  contains: true,

  async make(config) {
    const limits = readLimits(config)
    await removeLeftovers()
    return sandbox(limits)
  },

  /** Once per process: what a machine allows does not change while it runs. */
  check: () => (tested ??= selfTest(sandbox(readLimits({})))),
})

function sandbox(limits: Limits): Executor {
  return {
    async run(play, signal) {
      const bubblewrap = await findBubblewrap()
      const key = randomBytes(24).toString('base64url')
      const model: ModelAddress = { ...play.model, url: `http://127.0.0.1:${PORT}`, apiKey: key }
      const run = async (folder: Folder, files: object): Promise<Ended> => {
        const relay = await written(openRelay(socketOf(folder), play.model, key))
        try {
          return await runIn(folder, { bubblewrap, play, inputs: Object.keys(files), limits, signal })
        } finally {
          await relay.close()
        }
      }
      return playEpisode(play, signal, { model, limits, run })
    },
  }
}

interface Run {
  readonly bubblewrap: Bubblewrap
  readonly play: Play
  readonly inputs: readonly string[]
  readonly limits: Limits
  readonly signal: AbortSignal
}

async function runIn(folder: Folder, { bubblewrap, play, inputs, limits, signal }: Run): Promise<Ended> {
  const filter = seccompFilter()
  // Without a filter it could make namespaces, unless it is in one where that is off.
  const user = filter === null ? null : chooseUser([process.execPath, ...play.needs])
  await written(furnish(folder, user))
  const launch = play.launch(INSIDE.root)
  const files = { statusFile: FILES.status, filterFile: filter === null ? null : FILES.filter }
  const words = bubblewrapArguments(bubblewrap, { folder, user, inputs, needs: play.needs, ...files })
  const child = start(bubblewrap, user, limits)
  const namespace = namespaceOf(child, fileOf(child, FILES.status))
  const notes = notesOf(fileOf(child, FILES.notes))
  give(fileOf(child, FILES.arguments), words.map((word) => `${word}\0`).join(''))
  give(fileOf(child, FILES.filter), filter ?? '')
  // Nothing of the agent runs before its order comes, and none comes before it is known how to end it.
  void namespace.known.then((isKnown) => give(child.stdin, isKnown ? orderOf(launch) : ''))
  const ended = await attend(child, {
    timeoutSeconds: launch.timeoutSeconds,
    signal,
    kill: namespace.kill,
    buried: namespace.buried,
    // Until its first program runs, what it sees as its processes are the machine's.
    watch: (end) => watch(folder, () => (notes.sofar() === '' ? [] : namespace.processes()), limits, end),
  })
  return judged(ended, await notes.whole)
}

function start({ path }: Bubblewrap, user: number | null, limits: Limits): ChildProcess {
  // One file can be past the limit of all, by a little, so that it is seen to be.
  const limited = ['-c', LIMITED, 'sh', `${OPEN_FILES_MAX}`, `${Math.ceil(limits.diskBytes / BLOCK_BYTES) + 8}`]
  const inner = [...asUser(user, tasksMax(limits)), process.execPath, '--disable-sigusr1', INSIDE.program]
  const stdio = ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'] as const
  // Inside, the environment of whoever started it is there to be read, so there is none.
  const child = spawn('/bin/sh', [...limited, path, '--args', `${FILES.arguments}`, '--', ...inner], { env: {}, stdio: [...stdio] })
  // Heard again by whoever attends to it, unless it fails before anybody does.
  return child.on('error', () => undefined)
}

/** A machine that has no more files to open starts a process without any. */
function fileOf(child: ChildProcess, file: number): Duplex {
  const stdio: readonly unknown[] | undefined = child.stdio
  const stream = stdio?.[file]
  if (stream instanceof Duplex) return stream
  throw unavailable('no_process', 'this machine has no room for another process; raise its limit of open files')
}

/** Whoever does not read it has ended, and that is noticed elsewhere. */
function give(stream: Writable | null, data: string | Buffer): void {
  stream?.on('error', () => undefined).end(data)
}

/** What the first program says of how far it came. */
function notesOf(stream: Readable): { readonly sofar: () => string; readonly whole: Promise<string> } {
  let said = ''
  stream.setEncoding('utf8').on('data', (part: string) => (said += part))
  const whole = new Promise<string>((resolve) => stream.on('close', () => resolve(said)).on('error', () => undefined))
  return { sofar: () => said, whole }
}

function orderOf({ argv, env }: Launch): string {
  const usual = { PATH: PATH_INSIDE, HOME: INSIDE.root, TMPDIR: '/tmp', LANG: 'C.UTF-8' }
  return JSON.stringify({ argv, env: { ...usual, ...env }, socket: INSIDE.socket, port: PORT, niceness: NICENESS })
}

/** A sandbox that did not come about is the machine's trouble, and no fault of the command. */
function judged(ended: Ended, notes: string): Ended {
  if (notes.endsWith('failed')) return { ...ended, exitCode: EXIT_NOT_STARTED, ended: 'start' }
  if (notes === '' && (ended.ended ?? 'start') === 'start') throw unavailable('no_sandbox', cureFor(ended.stderr), { cause: ended.stderr })
  return ended
}

function cureFor(words: string): string {
  if (/user namespace|uid map|creating new namespace|permissions to create/i.test(words))
    return (
      'this machine lets nobody make user namespaces; allow them with: sysctl -w kernel.unprivileged_userns_clone=1, ' +
      'on Ubuntu also: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0'
    )
  if (/mount proc/i.test(words))
    return 'this container hides parts of /proc; start it with: docker run --security-opt systempaths=unconfined --security-opt seccomp=unconfined'
  return 'bubblewrap could not make a sandbox; try it by hand with: bwrap --unshare-all --ro-bind / / true'
}
