/** The namespace of a sandbox's processes: who is in it, and how all of them are ended by ending its first. */
import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { unavailable } from '../../../src/contract/index.ts'
import type { Processes } from '../common/processes.ts'
import { unlessGone } from '../common/walk.ts'

/** Bubblewrap says within milliseconds who the first process is; one that never does is ended itself. */
const KNOWN_WITHIN_MS = 2000
const LOOK_EVERY_MS = 5
const LOOKS_MAX = 1000

export interface Namespace {
  /** Whether there is one, and nobody wants it gone yet. */
  readonly known: Promise<boolean>
  readonly processes: Processes
  readonly kill: () => void
  /** Resolves when none of them is left, having killed what was. */
  readonly buried: () => Promise<void>
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
  // Ended before its first process is known, bubblewrap would leave that one waiting for ever.
  const kill = (): void => {
    if (first === null) late ??= setTimeout(() => child.kill('SIGKILL'), KNOWN_WITHIN_MS)
    else if (isAlive(first)) endProcess(first.pid)
  }
  const isOver = (): boolean => first === null || !isAlive(first)
  const buried = async (): Promise<void> => {
    clearTimeout(late ?? undefined)
    await found
    for (let looks = 0; !isOver(); looks += 1) {
      if (looks > LOOKS_MAX) throw unavailable('episode_processes', 'a sandbox cannot be ended; look for processes that wait for a disk')
      kill()
      await wait(LOOK_EVERY_MS)
    }
  }
  return { known: found, kill, buried, processes: () => (first === null ? [] : processesOf(first.pid)) }
}

/** Its number outside, which bubblewrap prints as soon as there is one; null when it ends without. */
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

/** As the sandbox itself sees them: its /proc lists them alone, and it cannot put another in its place. */
function processesOf(pid: number): readonly string[] {
  const proc = `/proc/${pid}/root/proc`
  const names = unlessGone(() => readdirSync(proc)) ?? []
  return names.filter((name) => /^\d+$/.test(name)).map((name) => `${proc}/${name}`)
}

/** The first process of a namespace counts as ended only after the kernel has ended all others. */
const isAlive = ({ pid, birth }: First): boolean => birthOf(pid) === birth

/** When it was started, which tells it from a later process of the same number; null when it has ended. */
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
