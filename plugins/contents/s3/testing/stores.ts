/** Verbs for the tests of this folder: a store over a folder of the test server's bucket, with a copy of its own on this machine. */
import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { isRefusal, type ContentStore, type Files, type JsonObject, type Release, type SealMark } from '../../../../src/contract/index.ts'
import { temporaryFolder } from '../../../../test/support/folder.ts'
import { BUCKET } from '../../../../test/support/s3.ts'
import plugin from '../index.ts'

const MARK: SealMark = { step: 1, operation: 'train', at: 1_763_180_000 }

/** One that no other test uses. */
export const newRepository = (): string => `s3://${BUCKET}/${randomUUID()}`

export const cacheFolder = (): string => temporaryFolder()

/** Another store of the same repository is another machine, unless they share the folder. */
export async function openBucket(repository: string, s3: JsonObject, cache: string = cacheFolder()): Promise<ContentStore> {
  const store = await plugin.plugin.make({ repository, cache, s3 })
  onTestFinished(() => store.close())
  return store
}

export async function publish(store: ContentStore, files: Files, parent: Release | null = null, step = MARK.step): Promise<Release> {
  return store.seal(await store.write({ kind: 'files', files }), parent, { ...MARK, step })
}

/** What it is refused with, as a person reads it. */
export async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  )
  if (!isRefusal(error)) throw error
  return `${error.code}: ${error.message}`
}
