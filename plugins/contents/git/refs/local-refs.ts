/** The refs of the repository on this machine: read once, then remembered, and written by `git update-ref --stdin`. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { REF } from '../../../../src/contract/index.ts'
import { GitError, REF_LOCK_WAIT_MILLIS, git } from '../process.ts'
import type { Change, RefPlace } from './goals.ts'

/** A lock that outlived everyone's patience is a dead process's. Below the wait, so that who waited in vain finds it old enough. */
const STALE_LOCK_MILLIS = REF_LOCK_WAIT_MILLIS - 1000
const LOCK = '.lock'

export class LocalRefs implements RefPlace {
  readonly #repository: string
  #known = new Map<string, string>()

  constructor(repository: string) {
    this.#repository = repository
  }

  get known(): ReadonlyMap<string, string> {
    return this.#known
  }

  async refresh(): Promise<void> {
    this.#known = await readRefs(this.#repository, REF.all)
  }

  async change(changes: readonly Change[]): Promise<void> {
    await this.#update(['start', ...changes.map(lineOf), 'prepare', 'commit', ''].join('\n'))
    remember(this.#known, changes)
  }

  /** Removes the locks of git processes that were killed. */
  async sweep(): Promise<void> {
    const roots = [REF.all, REF.remote].map((prefix) => join(this.#repository, prefix))
    const locks = (await Promise.all(roots.map(locksBelow))).flat()
    await Promise.all([...locks, join(this.#repository, `packed-refs${LOCK}`)].map(removeWhenStale))
  }

  async #update(transaction: string): Promise<void> {
    const args = [`--git-dir=${this.#repository}`, 'update-ref', '--stdin']
    try {
      await git(args, transaction)
    } catch (error) {
      if (!(error instanceof GitError && error.stderr.includes(LOCK))) throw error
      await this.sweep()
      await git(args, transaction)
    }
  }
}

export async function readRefs(repository: string, prefix: string): Promise<Map<string, string>> {
  const printed = await git([`--git-dir=${repository}`, 'for-each-ref', '--format=%(objectname) %(refname)', prefix])
  const lines = printed.toString().split('\n').filter(Boolean)
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]))
}

export function remember(known: Map<string, string>, changes: readonly Change[]): void {
  for (const { ref, to } of changes) {
    if (to === null) known.delete(ref)
    else known.set(ref, to)
  }
}

function lineOf({ ref, from, to }: Change): string {
  if (to === null) return `delete ${ref} ${from}`
  return from === null ? `create ${ref} ${to}` : `update ${ref} ${to} ${from}`
}

async function locksBelow(root: string): Promise<readonly string[]> {
  const names = await readdir(root, { recursive: true }).catch(() => [])
  return names.filter((name) => name.endsWith(LOCK)).map((name) => join(root, name))
}

async function removeWhenStale(lock: string): Promise<void> {
  const found = await stat(lock).catch(() => null)
  if (found !== null && Date.now() - found.mtimeMs > STALE_LOCK_MILLIS) await rm(lock, { force: true })
}
