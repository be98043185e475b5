/** Runs an agent in a bubblewrap sandbox: it sees its own folder and the system's programs, and reaches only the model. */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { basename } from 'node:path'
import { Duplex, type Readable, type Writable } from 'node:stream'
import { define, unavailable, type Executor, type Launch, type ModelAddress, type Play } from '../../../src/contract/index.ts'
import { knowPassingSecret } from '../../../src/kit/index.ts'
import { supervise, EXIT_NOT_STARTED, type CommandEnd } from '../common/supervise.ts'
import { playEpisode, written } from '../common/episode.ts'
import { removeLeftovers, type Folder } from '../common/folder.ts'
import { readLimits, type EpisodeLimits } from '../common/limits.ts'
import { tasksMax, watch } from '../common/processes.ts'
import { bubblewrapArguments, findBubblewrap, prepareFolder, INSIDE, pathInside, socketOf, asUser, chooseUser } from './bubblewrap.ts'
import type { Bubblewrap } from './bubblewrap.ts'
import { makeGroup } from './cgroup.ts'
import { namespaceOf } from './namespace.ts'
import { openRelay } from './relay.ts'
import { factsHere } from './report.ts'
import type { ControlGroup } from './scope.ts'
import { seccompFilter } from './seccomp.ts'
import { selfTest } from './self-test.ts'

/** Free in every sandbox, since each has its own network. */
const PORT = 17017
/** Agents have the lowest priority. */
const NICENESS = 19
const OPEN_FILES_MAX = 1024
const BLOCK_BYTES = 512
/** The shell sets limits before it execs bubblewrap: core files, open files, the size of one file. Lower existing limits stay. */
const LIMITED = 'echo $$ > "$3"; ulimit -c 0; ulimit -n "$1" 2>/dev/null; ulimit -f "$2" 2>/dev/null; shift 3; exec "$@"'
/** File descriptors beside the usual three. */
const FILES = { arguments: 3, status: 4, notes: 5, filter: 6 } as const

let tested: Promise<string | null> | null = null

export default define('executor', {
  contains: true,

  async make(config) {
    const limits = readLimits(config)
    await removeLeftovers()
    return sandbox(limits)
  },

  /** Once per process where it works; a failure is checked again, since it may have been fixed. */
  async check() {
    const problem = await (tested ??= selfTest(sandbox(readLimits({}))))
    if (problem !== null) tested = null
    return problem
  },

  facts: async () => factsHere(await (tested ?? selfTest(sandbox(readLimits({}))))),
})

function sandbox(limits: EpisodeLimits): Executor {
  return {
    async run(play, signal) {
      const bubblewrap = await findBubblewrap()
      const key = randomBytes(24).toString('base64url')
      knowPassingSecret(key)
      const model: ModelAddress = { ...play.model, url: `http://127.0.0.1:${PORT}`, apiKey: key }
      const run = async (folder: Folder, files: object, needs: readonly string[]): Promise<CommandEnd> => {
        const relay = await written(openRelay(socketOf(folder), play.model, key, limits.model))
        try {
          const ended = await runIn(folder, { bubblewrap, play, inputs: Object.keys(files), needs, limits, signal })
          const modelFailure = relay.modelFailure(ended.ended === 'time' ? play.launch(INSIDE.root).timeoutSeconds : null)
          const answeredBy = relay.answeredBy()
          return {
            ...ended,
            ...(relay.notes().length > 0 && { notes: relay.notes() }),
            ...(modelFailure !== null && { modelFailure }),
            ...(answeredBy !== null && { answeredBy }),
          }
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
  readonly needs: readonly string[]
  readonly limits: EpisodeLimits
  readonly signal: AbortSignal
}

async function runIn(folder: Folder, { bubblewrap, play, inputs, needs, limits, signal }: Run): Promise<CommandEnd> {
  const filter = seccompFilter()
  if (filter === null) throw unavailable('no_sandbox', `no filter of system calls is known for ${process.arch}; use x64 or arm64`)
  const user = chooseUser([process.execPath, ...needs])
  await written(prepareFolder(folder, user))
  const launch = play.launch(INSIDE.root)
  const files = { statusFile: FILES.status, filterFile: FILES.filter }
  const words = bubblewrapArguments(bubblewrap, { folder, user, inputs, needs, hides: play.hides ?? [], ...files })
  const group = makeGroup(basename(folder.path), limits)
  try {
    return await supervised(start(bubblewrap, user, limits, group), {
      folder,
      words,
      filter,
      launch,
      group,
      limits,
      signal,
    })
  } finally {
    group?.kill()
    await group?.remove()
  }
}

interface Started {
  readonly folder: Folder
  readonly words: readonly string[]
  readonly filter: Buffer
  readonly launch: Launch
  readonly group: ControlGroup | null
  readonly limits: EpisodeLimits
  readonly signal: AbortSignal
}

async function supervised(child: ChildProcess, { folder, words, filter, launch, group, limits, signal }: Started): Promise<CommandEnd> {
  const namespace = namespaceOf(child, fileOf(child, FILES.status))
  const notes = notesOf(fileOf(child, FILES.notes))
  give(fileOf(child, FILES.arguments), words.map((word) => `${word}\0`).join(''))
  give(fileOf(child, FILES.filter), filter)
  // The agent starts only once it is known how to kill it. The stream stays open: its end says that the service has died.
  child.stdin?.on('error', () => undefined)
  void namespace.known.then((isKnown) => (isKnown ? child.stdin?.write(orderOf(launch)) : child.stdin?.end()))
  const ended = await supervise(child, {
    timeoutSeconds: launch.timeoutSeconds,
    signal,
    kill: () => {
      group?.kill()
      namespace.kill()
    },
    allEnded: namespace.allEnded,
    // Until the first program runs, its /proc shows the machine's processes.
    watch: (end) =>
      watch(
        { folder, processes: () => (notes.sofar() === '' ? [] : namespace.processes()), limits, socketBytes: namespace.socketBytes },
        end,
      ),
  })
  const checked = checkedEnd(ended, await notes.whole)
  return group?.ranOut(checked.exitCode) === true ? { ...checked, ended: 'memory' } : checked
}

function start({ path }: Bubblewrap, user: number | null, limits: EpisodeLimits, group: ControlGroup | null): ChildProcess {
  // One file may slightly exceed the total limit, so that exceeding it is detected.
  const limited = [
    '-c',
    LIMITED,
    'sh',
    `${OPEN_FILES_MAX}`,
    `${Math.ceil(limits.diskBytes / BLOCK_BYTES) + 8}`,
    group?.entrance ?? '/dev/null',
  ]
  const inner = [...asUser(user, tasksMax(limits)), process.execPath, '--disable-sigusr1', INSIDE.program]
  const stdio = ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'] as const
  // The sandbox can read its starter's environment, so bubblewrap's is empty.
  const words = [...limited, ...(group?.prefix ?? []), path, '--args', `${FILES.arguments}`, '--', ...inner]
  const child = spawn('/bin/sh', words, { env: group?.env ?? {}, stdio: [...stdio] })
  // The supervisor listens too; this covers an earlier failure.
  return child.on('error', () => undefined)
}

/** On a machine out of file descriptors the process has none of these. */
function fileOf(child: ChildProcess, file: number): Duplex {
  const stdio: readonly unknown[] | undefined = child.stdio
  const stream = stdio?.[file]
  if (stream instanceof Duplex) return stream
  throw unavailable('no_process', 'this machine has no room for another process; raise its limit of open files')
}

/** A failed write means that the process ended, which is noticed elsewhere. */
function give(stream: Writable | null, data: string | Buffer): void {
  stream?.on('error', () => undefined).end(data)
}

/** The progress notes of the first program. */
function notesOf(stream: Readable): { readonly sofar: () => string; readonly whole: Promise<string> } {
  let said = ''
  stream.setEncoding('utf8').on('data', (part: string) => (said += part))
  const whole = new Promise<string>((resolve) => stream.on('close', () => resolve(said)).on('error', () => undefined))
  return { sofar: () => said, whole }
}

function orderOf({ argv, env }: Launch): string {
  const usual = { PATH: pathInside(), HOME: INSIDE.root, TMPDIR: '/tmp', LANG: 'C.UTF-8' }
  return `${JSON.stringify({ argv, env: { ...usual, ...env }, socket: INSIDE.socket, port: PORT, niceness: NICENESS })}\n`
}

/** A sandbox that could not be made is the machine's fault, not the command's. */
function checkedEnd(ended: CommandEnd, notes: string): CommandEnd {
  if (notes.endsWith('failed')) return { ...ended, exitCode: EXIT_NOT_STARTED, ended: 'start' }
  if (notes === '' && (ended.ended ?? 'start') === 'start') throw unavailable('no_sandbox', cureFor(ended.stderr), { cause: ended.stderr })
  return ended
}

function cureFor(words: string): string {
  if (/user namespace|uid map|creating new namespace|permissions to create/i.test(words))
    return (
      'this machine does not allow user namespaces; allow them with: sysctl -w kernel.unprivileged_userns_clone=1, ' +
      'on Ubuntu also: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0'
    )
  if (/mount proc/i.test(words))
    return 'this container hides parts of /proc; start it with: docker run --security-opt systempaths=unconfined --security-opt seccomp=unconfined'
  const said = words.split('\n', 1)[0]?.trim() ?? ''
  return `bubblewrap could not make a sandbox${said === '' ? '' : ` (${said})`}; try it by hand with: bwrap --unshare-all --ro-bind / / true`
}
