/** A command and everything it started, also what left its process group: found by descent, by group, and by a mark in the environment. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { unavailable } from '../../../src/contract/index.ts'
import type { Processes } from '../common/processes.ts'
import { unlessGone } from '../common/walk.ts'

const LOOK_EVERY_MS = 10
const LOOKS_MAX = 400

export interface Family {
  readonly members: Processes
  readonly kill: () => void
  /** Resolves when none is left, having killed what was. */
  readonly buried: () => Promise<void>
}

/** Where there is no /proc, the group is all that is known. */
export function familyOf(pid: number | null, mark: string): Family {
  if (pid === null) return { members: () => [], kill: () => undefined, buried: async () => undefined }
  const members = (): readonly string[] => membersOf(pid, mark).map((member) => `/proc/${member}`)
  const kill = (): void => {
    signalGroup(pid)
    for (const member of membersOf(pid, mark)) signal(member)
  }
  const buried = async (): Promise<void> => {
    kill()
    for (let looks = 0; members().length > 0; looks += 1) {
      if (looks > LOOKS_MAX) throw unavailable('episode_processes', 'what an agent started cannot be ended; use the executor sandbox')
      await wait(LOOK_EVERY_MS)
      kill()
    }
  }
  return { members, kill, buried }
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

/** Those that live; what has ended and waits to be noticed does nothing any more. */
function processes(): readonly Process[] {
  const names = unlessGone(() => readdirSync('/proc')) ?? []
  return names.flatMap((name) => {
    const stat = /^\d+$/.test(name) ? unlessGone(() => readFileSync(`/proc/${name}/stat`, 'latin1')) : null
    // The name of a program stands in brackets and may hold anything, so the fields are counted from the last one.
    const [state = 'X', parent, group] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
    return 'ZX'.includes(state) ? [] : [{ pid: Number(name), parent: Number(parent), group: Number(group) }]
  })
}

function isMarked(pid: number, mark: string): boolean {
  return (unlessGone(() => readFileSync(`/proc/${pid}/environ`, 'latin1')) ?? '').includes(mark)
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}

const signalGroup = (leader: number): void => signal(-leader)
