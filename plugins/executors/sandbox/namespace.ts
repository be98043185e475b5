/** The PID namespace of a sandbox: its processes, which all end when its first process is killed. */
import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { unavailable } from '../../../src/contract/index.ts'
import type { Processes } from '../common/processes.ts'
import type { Supervision } from '../common/supervise.ts'
import { unlessGone } from '../common/walk.ts'

/** Bubblewrap reports the first process within milliseconds; otherwise it is killed. */
const KNOWN_WITHIN_MS = 2000
const LOOK_EVERY_MS = 5
const LOOKS_MAX = 1000

interface Namespace extends Pick<Supervision, 'kill' | 'allEnded'> {
  /** Whether it exists and was not killed yet. */
  readonly known: Promise<boolean>
  readonly processes: Processes
  /** An upper bound of what its sockets hold in the kernel. */
  readonly socketBytes: () => number
}

interface First {
  readonly pid: number
  readonly birth: string
}

export function namespaceOf(child: ChildProcess, status: Readable): Namespace {
  let first: First | null = null
  let late: NodeJS.Timeout | null = null
  const found = firstProcess(status).then((pid) => {
    const birth = pid === null ? null : birthOf(pid)
    if (pid !== null && birth !== null) first = { pid, birth }
    clearTimeout(late ?? undefined)
    if (late !== null) kill()
    return first !== null && late === null
  })
  // Killing bubblewrap before its first process is known would leave that one behind.
  const kill = (): void => {
    if (first === null) late ??= setTimeout(() => child.kill('SIGKILL'), KNOWN_WITHIN_MS)
    else if (isAlive(first)) endProcess(first.pid)
  }
  const isOver = (): boolean => first === null || !isAlive(first)
  const allEnded = async (): Promise<void> => {
    clearTimeout(late ?? undefined)
    await found
    for (let looks = 0; !isOver(); looks += 1) {
      if (looks > LOOKS_MAX) throw unavailable('episode_processes', 'a sandbox cannot be ended; check for processes that wait for a disk')
      kill()
      await wait(LOOK_EVERY_MS)
    }
  }
  const socketBytes = (): number => (first === null ? 0 : socketBytesOf(`/proc/${first.pid}/net`))
  return { known: found, kill, allEnded, processes: () => (first === null ? [] : processesOf(first.pid)), socketBytes }
}

/** The outer PID, which bubblewrap prints; null when it ends without. */
function firstProcess(status: Readable): Promise<number | null> {
  return new Promise((resolve) => {
    let printed = ''
    status.setEncoding('utf8').on('data', (part: string) => {
      const [, pid] = /"child-pid": (\d+)/.exec((printed += part)) ?? []
      if (pid !== undefined) resolve(Number(pid))
    })
    status.on('close', () => resolve(null)).on('error', () => resolve(null))
  })
}

/** Read from the sandbox's own /proc, which it cannot replace. */
function processesOf(pid: number): readonly string[] {
  const proc = `/proc/${pid}/root/proc`
  const names = unlessGone(() => readdirSync(proc)) ?? []
  return names.filter((name) => /^\d+$/.test(name)).map((name) => `${proc}/${name}`)
}

/** The kernel's default for one buffer; the filter lets none be larger. */
const BUFFER_BYTES = 212_992
/** How much more than its content a queue of TCP holds. */
const TCP_OVERHEAD = 2

/** The network is the sandbox's own, so these are its sockets alone, also those that no process has open. */
function socketBytesOf(net: string): number {
  const lines = (name: string): readonly string[] =>
    (unlessGone(() => readFileSync(`${net}/${name}`, 'latin1')) ?? '').split('\n').slice(1, -1)
  const queued = (name: string): number => lines(name).reduce((sum, line) => sum + queuedIn(line), 0)
  const local = lines('unix').length * BUFFER_BYTES
  return local + TCP_OVERHEAD * (queued('tcp') + queued('tcp6')) + queued('udp') + queued('udp6')
}

/** The two queues of a line, in hexadecimal. */
function queuedIn(line: string): number {
  const [, sent = '0', received = '0'] = / ([\dA-F]{8}):([\dA-F]{8}) /.exec(line.slice(line.indexOf(':') + 1)) ?? []
  return Number.parseInt(sent, 16) + Number.parseInt(received, 16)
}

/** The kernel ends all other processes of a namespace before its first. */
const isAlive = ({ pid, birth }: First): boolean => birthOf(pid) === birth

/** Its start time, which distinguishes it from a later process with the same PID; null when it ended. */
function birthOf(pid: number): string | null {
  const stat = unlessGone(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  const [state = 'X', ...fields] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  return 'ZX'.includes(state) ? null : (fields[18] ?? null)
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}
