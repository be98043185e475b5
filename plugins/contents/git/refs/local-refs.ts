/** The refs of the repository on this machine: read once, then remembered, and written by `git update-ref --stdin`. */
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { FORMER_REF, ORIGINAL, REF } from '../../../../src/contract/index.ts'
import { GitFailure } from '../../../../src/git/index.ts'
import { entriesBelow } from '../../../../src/kit/index.ts'
import { REF_LOCK_WAIT_MILLIS, git } from '../process.ts'
import type { Change, RefPlace } from '../../common/refs/goals.ts'
import { displacedRef } from '../../common/refs/ref-names.ts'

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

  /**
   * The first refresh, which also renames the refs of an earlier version, in one transaction. Git may be killed within it: then some refs stand
   * under both names, and the next open removes the former ones. A service of that version that runs again makes its own refs anew, from rows.
   */
  async open(): Promise<void> {
    const all = await readRefs(this.#repository, REF.all, FORMER_REF.all, FORMER_REF.remote)
    const former = new Map([...all].filter(([ref]) => !ref.startsWith(REF.all)))
    for (const ref of former.keys()) all.delete(ref)
    this.#known = all
    if (former.size === 0 || ORIGINAL.refs.some((ref) => former.has(ref))) return
    await this.change([...former].flatMap(([ref, releaseId]) => renamed(ref, releaseId, all))).catch(async (error: unknown) => {
      // Another service may have opened the repository at the same time.
      if ((await readRefs(this.#repository, FORMER_REF.all, FORMER_REF.remote)).size > 0) throw error
      await this.refresh()
    })
  }

  async change(changes: readonly Change[]): Promise<void> {
    await this.#update(['start', ...changes.map(lineOf), 'prepare', 'commit', ''].join('\n'))
    remember(this.#known, changes)
  }

  async sweep(): Promise<void> {
    const roots = [REF.all, REF.remote, FORMER_REF.all, FORMER_REF.remote].map((prefix) => join(this.#repository, prefix))
    const locks = (await Promise.all(roots.map(locksBelow))).flat()
    await Promise.all([...locks, join(this.#repository, `packed-refs${LOCK}`)].map(removeWhenStale))
  }

  async #update(transaction: string): Promise<void> {
    const args = [`--git-dir=${this.#repository}`, 'update-ref', '--stdin']
    try {
      await git(args, transaction)
    } catch (error) {
      if (!(error instanceof GitFailure && error.stderr.includes(LOCK))) throw error
      await this.sweep()
      await git(args, transaction)
    }
  }
}

/** Under its new name; where another release stands there, among the archived refs. What a remote held last is read from it again. */
function renamed(ref: string, releaseId: string, known: ReadonlyMap<string, string>): readonly Change[] {
  const gone: Change = { ref, from: releaseId, to: null }
  if (!ref.startsWith(FORMER_REF.all)) return [gone]
  const name = REF.all + ref.slice(FORMER_REF.all.length)
  const free = [name, displacedRef(name, releaseId) ?? `${name}-${releaseId}`].find((each) => (known.get(each) ?? releaseId) === releaseId)
  return free === undefined || known.has(free) ? [gone] : [{ ref: free, from: null, to: releaseId }, gone]
}

export async function readRefs(repository: string, ...prefixes: readonly string[]): Promise<Map<string, string>> {
  const printed = await git([`--git-dir=${repository}`, 'for-each-ref', '--format=%(objectname) %(refname)', ...prefixes])
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
  const entries = await entriesBelow(root).catch(() => [])
  return entries.filter(({ name }) => name.endsWith(LOCK)).map(({ parentPath, name }) => join(parentPath, name))
}

async function removeWhenStale(lock: string): Promise<void> {
  const found = await stat(lock).catch(() => null)
  if (found !== null && Date.now() - found.mtimeMs > STALE_LOCK_MILLIS) await rm(lock, { force: true })
}
