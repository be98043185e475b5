/** Contents and releases in a bare git repository: content is a tree, a release is a commit, a scenario's pointer is a ref. */
import { unsupported, type ContentStore } from '../../../src/contract/index.ts'
import { keepContents } from '../common/contents.ts'
import { Workbench } from '../common/files/workbench.ts'
import { isObjectId } from '../common/objects/object.ts'
import { noRelease } from '../common/refs/goals.ts'
import { heldRef, scenarioRef } from '../common/refs/ref-names.ts'
import { readPacked } from './packs.ts'
import { LocalRefs } from './refs/local-refs.ts'
import { Refs } from './refs/refs.ts'
import { openRemote } from './refs/remote.ts'
import { openRepository } from './repository.ts'

export interface Location {
  readonly path: string
  /** The repository that follows it, or null. */
  readonly url: string | null
  readonly isShared: false
}

export async function openContents({ path, url }: Location): Promise<ContentStore> {
  await openRepository(path)
  const workbench = new Workbench(path)
  const local = new LocalRefs(path)
  await Promise.all([workbench.sweep(), local.sweep()])
  await local.open()
  const contents = keepContents(path, workbench, { objects: { read: (ids) => readPacked(path, ids) } })
  const refs = new Refs(local, contents.find)
  const remote = url === null ? null : await openRemote(path, url, local, contents.find)

  /** Not checked before it is queued, but for what would be no name: two points of one scenario must reach the queue in the order asked. */
  async function move(ref: string, releaseId: string): Promise<void> {
    if (!isObjectId(releaseId)) throw noRelease(releaseId)
    await refs.move({ ref, releaseId })
    await remote?.follow(ref)
  }

  return {
    ...contents,
    isShared: remote !== null,
    point: async (scenario, { release_id }) => move(scenarioRef(scenario), release_id),
    hold: async ({ release_id }) => move(heldRef(release_id), release_id),
    archive: async (scenario, as) => (remote === null ? refs.archive(scenario, as) : Promise.reject(noArchive())),
    async close() {
      await refs.idle()
      await remote?.idle()
    },
  }
}

/** A remote may hold what other services publish under the same name, and renaming there is no move that one service may make. */
const noArchive = (): Error =>
  unsupported('remote_repository', 'a scenario whose releases are in a remote repository cannot be archived; keep it, or use a path')
