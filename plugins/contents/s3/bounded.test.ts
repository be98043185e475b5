/** The copy of a bucket on this machine stays below its size, and nothing is lost by that. */
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ContentStore } from '../../../src/contract/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { BUCKET, startS3, type S3Server } from '../../../test/support/s3.ts'
import { cacheFolder, newRepository, openBucket, publish } from './testing/stores.ts'

const KIB = 1024
const HOURS_AGO = Date.now() / 1000 - 2 * 3600

let server: S3Server
beforeAll(async () => {
  server = await startS3()
})
afterAll(() => server.stop())

interface Machine {
  readonly cache: string
  /** The bucket's folder on the server. */
  readonly there: string
  readonly open: () => Promise<ContentStore>
}

/** One whose copy may take so many KiB. */
function machine(kib: number): Machine {
  const [repository, cache] = [newRepository(), cacheFolder()]
  const open = (): Promise<ContentStore> => openBucket(repository, { ...server.s3, cache_bytes: kib * KIB }, cache)
  return { cache, there: join(server.folder, BUCKET, repository.split('/').at(-1) ?? ''), open }
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
const objectsIn = (folder: string): string[] => filesIn(folder).filter((path) => path.includes('/objects/'))
const kibIn = (folder: string): number => objectsIn(folder).reduce((sum, path) => sum + statSync(path).blocks / 2, 0)
/** About 48 KiB as it is stored. */
const text = (): string => randomBytes(48 * KIB).toString('base64')

it('takes no more than it may, and what was removed is read from the bucket again', async () => {
  const { cache, open } = machine(512)
  const store = await open()
  const contents = Array.from({ length: 20 }, () => ({ a: text() }))
  const releases = []
  for (const content of contents) releases.push(await publish(store, content))
  // What is removed is removed before it closes.
  await store.close()
  expect(kibIn(cache)).toBeLessThanOrEqual(512)
  expect(kibIn(cache)).toBeGreaterThan(256)
  const again = await open()
  for (const [index, { content_id }] of releases.entries()) expect({ ...(await again.read(content_id)) }).toEqual(contents[index])
})

it('keeps what was used last, also by an earlier process', async () => {
  const { cache, there, open } = machine(256)
  const store = await open()
  const [used, unused] = [await publish(store, { a: text() }), await publish(store, { a: text() })]
  await store.close()
  for (const path of objectsIn(cache)) utimesSync(path, HOURS_AGO, HOURS_AGO)
  const reader = await open()
  await reader.read(used.content_id)
  await reader.close()
  const writer = await open()
  for (const _ of [1, 2, 3]) await publish(writer, { a: text() })
  await writer.close()
  rmSync(join(there, 'objects'), { recursive: true })
  const last = await open()
  expect(Object.keys(await last.read(used.content_id))).toEqual(['a'])
  await expect(last.read(unused.content_id)).rejects.toMatchObject({ kind: 'unknown' })
})

it('keeps unpacked folders and their large files while they may be in use, and then frees both', async () => {
  const { cache, open } = machine(300)
  const store = await open()
  const [one, other] = [await unpacked(store), await unpacked(store)]
  await store.close()
  expect([one, other].map((folder) => statSync(join(folder, 'model.bin')).size)).toEqual([400 * KIB, 400 * KIB])
  utimesSync(one, HOURS_AGO, HOURS_AGO)
  for (const path of filesIn(cache)) utimesSync(path, HOURS_AGO, HOURS_AGO)
  const later = await open()
  await publish(later, { a: text() })
  await later.close()
  expect([existsSync(one), existsSync(other)]).toEqual([false, true])
  expect(filesIn(cache).filter((path) => path.includes('/lfs/'))).toHaveLength(1)
})

async function unpacked(store: ContentStore): Promise<string> {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'model.bin'), randomBytes(400 * KIB))
  return store.unpack(await store.write({ kind: 'checkpoint', path: folder }))
}
