/**
 * Contents and releases in a remote git repository that several gateways write to. A release is there before a row can name it, and what is
 * not on this machine is fetched. The repository here is a copy; its own refs say nothing.
 */
import { isRefusal, REF, unavailable, type ContentStore } from '../../../src/contract/index.ts'
import { keepContents } from '../common/contents.ts'
import { Workbench } from '../common/files/workbench.ts'
import { isObjectId, type StoredObject } from '../common/objects/object.ts'
import { noRelease } from '../common/refs/goals.ts'
import { heldRef, scenarioRef } from '../common/refs/ref-names.ts'
import { readPacked, readThroughGit } from './packs.ts'
import { LocalRefs } from './refs/local-refs.ts'
import { Refs } from './refs/refs.ts'
import { openRemoteRefs, PUSH_REFS_MAX, type RemoteRefs } from './refs/remote.ts'
import { openRepository } from './repository.ts'

export interface SharedLocation {
  readonly path: string
  readonly url: string
  readonly isShared: true
}

export async function openSharedContents({ path, url }: SharedLocation): Promise<ContentStore> {
  await openRepository(path)
  const workbench = new Workbench(path)
  const local = new LocalRefs(path)
  await Promise.all([workbench.sweep(), local.sweep(), local.refresh()])
  const remote = await openRemoteRefs(path, url)
  const contents = keepContents(path, workbench, { objects: { read: (ids) => readOrFetch(path, remote, ids) } })
  const refs = new Refs(remote, contents.find, PUSH_REFS_MAX)

  async function move(ref: string, releaseId: string): Promise<void> {
    if (!isObjectId(releaseId)) throw noRelease(releaseId)
    await refs.move({ ref, releaseId }).catch((error: unknown) => {
      throw isRefusal(error) ? error : refused(error)
    })
  }

  // What was published while one service alone used the remote, and could not be pushed.
  const there = new Set(remote.known.values())
  const missing = new Set([...local.known.values()].filter((releaseId) => !there.has(releaseId)))
  await Promise.all(Array.from(missing, (releaseId) => move(heldRef(releaseId), releaseId)))

  return {
    ...contents,
    isShared: true,
    async seal(contentId, parent, mark) {
      const release = await contents.seal(contentId, parent, mark)
      await move(heldRef(release.release_id), release.release_id)
      return release
    },
    point: async (scenario, { release_id }) => move(scenarioRef(scenario), release_id),
    hold: async ({ release_id }) => move(heldRef(release_id), release_id),
    archive: async (scenario, as) => refs.archive(scenario, as),
    close: () => refs.idle(),
  }
}

/** What no pack of this machine holds may have been pushed by another one. */
async function readOrFetch(path: string, remote: RemoteRefs, ids: readonly string[]): Promise<ReadonlyMap<string, StoredObject>> {
  const packed = await readPacked(path, ids)
  const missing = ids.filter((id) => !packed.has(id))
  if (missing.length === 0) return packed
  await remote.refresh()
  return new Map([...packed, ...(await readThroughGit(path, missing))])
}

const refused = (cause: unknown): Error =>
  unavailable(
    'remote_refused',
    `the remote artifact repository did not take the release; let git push to ${REF.all} there, and look at its hooks and its disk`,
    { cause },
  )
