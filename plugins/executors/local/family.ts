/** The processes of a command, found by parent, by process group, and by a mark in the environment. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { unavailable } from '../../../src/contract/index.ts'
import type { Processes } from '../common/processes.ts'
import { unlessGone } from '../common/walk.ts'

const LOOK_EVERY_MS = 10
const LOOKS_MAX = 400

export interface ProcessFamily {
  readonly members: Processes
  readonly kill: () => void
  /** Kills what is left, and resolves when no process is left. */
  readonly allEnded: () => Promise<void>
}

/** Without /proc only the process group is known. */
export function familyOf(pid: number | null, mark: string): ProcessFamily {
  if (pid === null) return { members: () => [], kill: () => undefined, allEnded: async () => undefined }
  const members = (): readonly string[] => membersOf(pid, mark).map((member) => `/proc/${member}`)
  const kill = (): void => {
    signalGroup(pid)
    for (const member of membersOf(pid, mark)) signal(member)
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

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}

const signalGroup = (leader: number): void => signal(-leader)
