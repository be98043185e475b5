/** Temporary folders whose names say which process made them, so that a later process removes what one that was killed left. */
import { readlinkSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasCode } from './error-code.ts'

/** What it is for, in one word. */
type FolderUse = 'episode' | 'miner' | 'change'

export const makeOwnFolder = (use: FolderUse): Promise<string> => mkdtemp(join(tmpdir(), `${prefixOf(use)}${process.pid}-`))

/** Removes folders of processes that are gone; what cannot be removed stays. */
export async function removeLeftFolders(
  use: FolderUse,
  remove: (path: string) => Promise<void> = (path) => rm(path, { recursive: true, force: true }),
): Promise<void> {
  const prefix = prefixOf(use)
  const names = await readdir(tmpdir()).catch((): string[] => [])
  const left = names.filter((name) => name.startsWith(prefix) && !isAlive(Number(name.slice(prefix.length).split('-')[0])))
  for (const name of left) await remove(join(tmpdir(), name)).catch(() => undefined)
}

/** The prefix holds the PID namespace, and the name the PID: folders of other containers are not left over. */
function prefixOf(use: FolderUse): string {
  const namespace = process.platform === 'linux' ? readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '') : '0'
  return `svc-${use}-${namespace}-`
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !hasCode(error, 'ESRCH')
  }
}
