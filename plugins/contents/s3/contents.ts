/**
 * Contents and releases in a bucket, which several services share. A folder of this machine is a copy of what was written or read here of late:
 * the bucket has an object before the folder does, and none ever changes, so that nothing in the folder goes stale.
 */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { ContentStore, Pointer } from '../../../src/contract/index.ts'
import { isMissing, makeFolder, writeAtomicFile } from '../../../src/kit/index.ts'
import { keepContents } from '../common/contents.ts'
import { Workbench } from '../common/files/workbench.ts'
import { isObjectId, type StoredObject } from '../common/objects/object.ts'
import { damagedObject, readDeflated } from '../common/objects/objects.ts'
import { noRelease } from '../common/refs/goals.ts'
import { heldRef, scenarioRef } from '../common/refs/ref-names.ts'
import { BoundedFolder } from './bounded.ts'
import type { Bucket } from './bucket.ts'
import { newerBucket, otherBucket, unconditional } from './refusals.ts'
import { BucketRefs } from './refs.ts'

/** Says which bucket this is: one that was emptied and filled again is another. */
const MARK = 'svc-repository.json'
const FORMAT = 1
const markSchema = z.object({ format: z.int(), id: z.string() })
/** With these a copy of the folder in the bucket is a bare git repository. */
const AS_GIT: Readonly<Record<string, string>> = {
  HEAD: 'ref: refs/heads/main\n',
  config: '[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n\tpruneExpire = never\n',
}
/** Never written: a server that keeps to conditions refuses what must be unchanged and is not there. */
const NEVER = 'svc-never-written'

export async function openContents(bucket: Bucket, folder: string, bytesMax: number): Promise<ContentStore> {
  await checkConditions(bucket)
  await checkSame(await markOf(bucket), folder)
  const workbench = new Workbench(folder)
  await workbench.sweep()
  const usage = new BoundedFolder(folder, bytesMax, workbench)
  usage.grew(0)
  const contents = keepContents(folder, workbench, {
    usage,
    objects: {
      read: (ids) => readObjects(bucket, ids),
      write: async (id, bytes) => void (await bucket.put(objectKey(id), bytes, { kind: 'absent' })),
    },
    large: {
      read: (pointer) => bucket.stream(largeKey(pointer)),
      write: (pointer, path) => bucket.putFile(largeKey(pointer), path, pointer.bytes),
    },
  })
  const refs = new BucketRefs(bucket, contents.find)

  async function move(ref: string, releaseId: string): Promise<void> {
    if (!isObjectId(releaseId)) throw noRelease(releaseId)
    await refs.move({ ref, releaseId })
  }

  return {
    ...contents,
    isShared: true,
    point: async (scenario, { release_id }) => move(scenarioRef(scenario), release_id),
    hold: async ({ release_id }) => move(heldRef(release_id), release_id),
    archive: async (scenario, as) => refs.archive(scenario, as),
    async close() {
      await Promise.all([refs.idle(), usage.idle()])
      await bucket.close()
    },
  }
}

async function checkConditions(bucket: Bucket): Promise<void> {
  if (await bucket.put(NEVER, Buffer.from('\n'), { kind: 'unchanged', tag: '"0"' })) throw unconditional()
}

/** The first service writes it; of several that start at once one does. */
async function markOf(bucket: Bucket): Promise<string> {
  const found = await bucket.get(MARK)
  if (found !== null) return found.bytes.toString()
  const mark = Buffer.from(`${JSON.stringify({ format: FORMAT, id: randomUUID() })}\n`)
  for (const [key, text] of Object.entries(AS_GIT)) await bucket.put(key, Buffer.from(text), { kind: 'absent' })
  if ((await bucket.put(MARK, mark, { kind: 'absent' })) && (await bucket.put(MARK, mark, { kind: 'absent' }))) throw unconditional()
  return (await bucket.get(MARK))?.bytes.toString() ?? ''
}

/** What lies in the folder is taken to be in the bucket as well, which holds only for the bucket that it is a copy of. */
async function checkSame(mark: string, folder: string): Promise<void> {
  const there = parseMark(mark)
  if (there === null || there.format > FORMAT) throw newerBucket()
  await makeFolder(folder)
  const path = join(folder, MARK)
  const here = await readFile(path, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
  if (here === null) return writeAtomicFile(path, mark)
  if (parseMark(here)?.id !== there.id) throw otherBucket(folder)
}

function parseMark(text: string): z.output<typeof markSchema> | null {
  try {
    return markSchema.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}

async function readObjects(bucket: Bucket, ids: readonly string[]): Promise<ReadonlyMap<string, StoredObject>> {
  const found = new Map<string, StoredObject>()
  const read = async (id: string): Promise<void> => {
    const object = await bucket.get(objectKey(id))
    if (object === null) return
    const parsed = await readDeflated(id, object.bytes).catch((error: unknown) => {
      throw damagedObject(id, error)
    })
    found.set(id, parsed)
  }
  await Promise.all(ids.map(read))
  return found
}

/** As git and git-lfs lay them out. */
const objectKey = (id: string): string => `objects/${id.slice(0, 2)}/${id.slice(2)}`
const largeKey = ({ sha256 }: Pointer): string => `lfs/objects/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`
