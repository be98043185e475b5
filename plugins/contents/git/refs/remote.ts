/**
 * A repository elsewhere that follows the one on this machine: what is published is durable here first and pushed then. What a failed
 * push left behind is not written down anywhere; it is the difference between the refs here and there, and the next push carries it.
 */
import { FORMER_REF, ORIGINAL, REF, isRefusal, unavailable } from '../../../../src/contract/index.ts'
import { GitFailure } from '../../../../src/git/index.ts'
import { Lane } from '../../../../src/kit/index.ts'
import { gitOverNetwork } from '../process.ts'
import { settleGoals } from '../../common/refs/goals.ts'
import type { Change, Find, Goal, RefPlace } from '../../common/refs/goals.ts'
import { readRefs, remember } from './local-refs.ts'

/** The first fetch may bring years of releases; afterwards a remote that takes longer is taken for gone. */
const OPEN_TIMEOUT_SECONDS = 600
const TIMEOUT_SECONDS = 60
/** Refs in one push: all of them stand on one command line. */
export const PUSH_REFS_MAX = 200
const FETCHES_MAX = 5
/** Refs that the remote has from an earlier version. They stay there, since a service of that version may share it. */
const FORMER = `${REF.remote}former/`

/** Fetches, so that releases published from elsewhere are found here, and pushes what an earlier run could not. */
export async function openRemote(repository: string, url: string, local: RefPlace, find: Find): Promise<Remote> {
  const remote = new Remote(local, await openRemoteRefs(repository, url), find)
  await remote.catchUp()
  return remote
}

export async function openRemoteRefs(repository: string, url: string): Promise<RemoteRefs> {
  const refs = new RemoteRefs(repository, url)
  await refs.refresh(OPEN_TIMEOUT_SECONDS)
  if (await refs.isOriginal()) throw ofTheOriginal()
  return refs
}

export class Remote {
  readonly #local: RefPlace
  readonly #refs: RefPlace
  readonly #find: Find
  #tail: Promise<unknown> = Promise.resolve()
  #next: Promise<ReadonlyMap<string, unknown>> | null = null

  constructor(local: RefPlace, refs: RefPlace, find: Find) {
    this.#local = local
    this.#refs = refs
    this.#find = find
  }

  /** The ref has moved on this machine already, and stays moved whatever this throws. */
  async follow(ref: string): Promise<void> {
    const failures = await this.catchUp()
    if (!failures.has(ref)) return
    const cure = 'it is kept on this machine and pushed with the next one; check that the remote can be reached and written'
    throw unavailable('remote_behind', `the release could not be pushed to the remote artifact repository; ${cure}`, {
      cause: failures.get(ref),
    })
  }

  /** One push for all who ask while another runs. Answers what could not be pushed and why, by ref. */
  async catchUp(): Promise<ReadonlyMap<string, unknown>> {
    if (this.#behind().length === 0) return new Map()
    if (this.#next === null) {
      this.#next = this.#tail.then(() => {
        this.#next = null
        return this.#push()
      })
      this.#tail = this.#next.catch(() => undefined)
    }
    return this.#next
  }

  async idle(): Promise<void> {
    await this.#tail
  }

  async #push(): Promise<ReadonlyMap<string, unknown>> {
    const goals = this.#behind()
    const failures = new Map<string, unknown>()
    for (let at = 0; at < goals.length; at += PUSH_REFS_MAX) {
      const failed = await settleGoals(this.#refs, goals.slice(at, at + PUSH_REFS_MAX), this.#find)
      for (const [ref, error] of failed) failures.set(ref, error)
      const gone = [...failed.values()].find(isUnreachable)
      // A remote that cannot be reached is not asked again for each of the rest.
      if (gone !== undefined) return new Map([...failures, ...goals.slice(at).map(({ ref }) => [ref, gone] as const)])
    }
    return failures
  }

  #behind(): readonly Goal[] {
    const goals = Array.from(this.#local.known, ([ref, releaseId]) => ({ ref, releaseId }))
    return goals.filter(({ ref, releaseId }) => this.#refs.known.get(ref) !== releaseId)
  }
}

export class RemoteRefs implements RefPlace {
  readonly #repository: string
  readonly #url: string
  readonly #fetches = new Lane()
  #nextFetch: Promise<void> | null = null
  #known = new Map<string, string>()

  constructor(repository: string, url: string) {
    this.#repository = repository
    this.#url = url
  }

  get known(): ReadonlyMap<string, string> {
    return this.#known
  }

  /** One fetch for all who ask while another runs: theirs begins after they asked, so that it brings what was pushed before. */
  refresh(timeoutSeconds = TIMEOUT_SECONDS): Promise<void> {
    this.#nextFetch ??= this.#fetches.run(() => {
      this.#nextFetch = null
      return this.#fetch(timeoutSeconds)
    })
    return this.#nextFetch
  }

  /** What the remote holds comes under names of its own, so that a pointer moved here and not pushed yet is never overwritten. */
  async #fetch(timeoutSeconds: number): Promise<void> {
    const refspecs = [`+${REF.all}*:${REF.remote}*`, `+${FORMER_REF.all}*:${FORMER}*`]
    const args = ['fetch', '--quiet', '--prune', '--no-tags', '--no-write-fetch-head', '--', this.#url, ...refspecs]
    for (let attempt = 1; ; attempt += 1) {
      const failure = await gitOverNetwork([`--git-dir=${this.#repository}`, ...args], timeoutSeconds).then(
        () => null,
        (error: unknown) => error,
      )
      if (failure === null) break
      // Another process on this machine may fetch the same refs into the same folder.
      if (attempt === FETCHES_MAX || !(failure instanceof GitFailure && failure.stderr.includes('lock'))) throw unreachable(failure)
    }
    const fetched = [...(await readRefs(this.#repository, REF.remote))].filter(([ref]) => !ref.startsWith(FORMER))
    this.#known = new Map(fetched.map(([ref, releaseId]) => [REF.all + ref.slice(REF.remote.length), releaseId]))
  }

  async isOriginal(): Promise<boolean> {
    const fetched = await readRefs(this.#repository, FORMER)
    return ORIGINAL.refs.some((ref) => fetched.has(FORMER + ref.slice(FORMER_REF.all.length)))
  }

  async change(changes: readonly Change[]): Promise<void> {
    const leases = changes.map(({ ref, from }) => `--force-with-lease=${ref}:${from ?? ''}`)
    const refspecs = changes.map(({ ref, to }) => `${to ?? ''}:${ref}`)
    const args = ['push', '--quiet', '--atomic', '--porcelain', ...leases, '--', this.#url, ...refspecs]
    await gitOverNetwork([`--git-dir=${this.#repository}`, ...args], TIMEOUT_SECONDS)
    remember(this.#known, changes)
  }
}

const unreachable = (cause: unknown): Error =>
  unavailable(
    'remote_unreachable',
    'the remote artifact repository cannot be reached or is not one; check storage.artifact_repository, the network and the credentials git uses for it',
    { cause },
  )

const ofTheOriginal = (): Error =>
  unavailable(
    'remote_original',
    'the remote artifact repository holds releases of the system reef, which are not written over; set another repository, clone that one with git clone --mirror, and carry it over with: svc import reef --records DIR --artifacts CLONE',
  )

const isUnreachable = (error: unknown): boolean => isRefusal(error) && error.code === 'remote_unreachable'
