/** Contents in a bucket under the suite of their kind, on a real server, and shared by several machines. */
import { execFileSync, spawn } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contentsConformance } from '../../../conformance/contents.ts'
import type { Files, Release } from '../../../src/contract/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { BUCKET, startS3, type S3Server } from '../../../test/support/s3.ts'
import { heldRef, scenarioRef } from '../common/refs/ref-names.ts'
import { cacheFolder, newRepository, openBucket, publish } from './testing/stores.ts'

const LARGE_BYTES = 40 * 1024 * 1024

let server: S3Server
beforeAll(async () => {
  server = await startS3()
})
afterAll(() => server.stop())

const open = (repository: string, cache?: string) => openBucket(repository, server.s3, cache)
const folderOf = (repository: string): string => join(server.folder, BUCKET, repository.split('/').at(-1) ?? '')

/** A copy of the folder in the bucket, as a tool for buckets would make it. */
function copyOf(repository: string): string {
  const copy = join(temporaryFolder(), 'copy.git')
  cpSync(folderOf(repository), copy, { recursive: true })
  return copy
}

const gitSays = (repository: string, ...args: string[]): string =>
  execFileSync('git', [`--git-dir=${repository}`, ...args], { encoding: 'utf8', stdio: 'pipe' })

const refsOf = (repository: string): Record<string, string> => {
  const lines = gitSays(copyOf(repository), 'for-each-ref', '--format=%(refname) %(objectname)').split('\n').filter(Boolean)
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]))
}

describe('conformance', () => contentsConformance({ describe, it, make: () => open(newRepository()) }))

describe('several machines', () => {
  it('find, read and unpack what another one wrote, and build on it', async () => {
    const repository = newRepository()
    const [here, there] = [await open(repository), await open(repository)]
    const first = await publish(here, { 'AGENTS.md': 'be brief', 'a/b': '1' })
    expect(await there.find(first.release_id)).toEqual(first)
    expect({ ...(await there.read(first.content_id)) }).toEqual({ 'AGENTS.md': 'be brief', 'a/b': '1' })
    const second = await publish(there, { 'AGENTS.md': 'be kind', 'a/b': '1' }, first, 2)
    await Promise.all([there.point('s', second), there.hold(first)])
    expect(await here.find(second.release_id)).toEqual(second)
    expect(refsOf(repository)).toEqual({ [scenarioRef('s')]: second.release_id, [heldRef(first.release_id)]: first.release_id })
  })

  it('share large files, sent in parts, byte by byte', async () => {
    const repository = newRepository()
    const folder = temporaryFolder()
    const bytes = randomBytes(LARGE_BYTES)
    writeFileSync(join(folder, 'model.safetensors'), bytes)
    writeFileSync(join(folder, 'note.md'), 'small')
    const contentId = await (await open(repository)).write({ kind: 'checkpoint', path: folder })
    const unpacked = await (await open(repository)).unpack(contentId)
    expect(readdirSync(unpacked).toSorted()).toEqual(['model.safetensors', 'note.md'])
    expect(hash('sha256', readFileSync(join(unpacked, 'model.safetensors')))).toBe(hash('sha256', bytes))
  })

  it('that move one pointer at once lose none of their releases, and agree on one', async () => {
    const repository = newRepository()
    const stores = await Promise.all(Array.from({ length: 4 }, () => open(repository)))
    const made = await Promise.all(
      stores.map(async (store, index) => ({ store, release: await publish(store, { own: String(index) }, null, index) })),
    )
    const releases = made.map(({ release }) => release)
    const ends = await Promise.allSettled(made.map(({ store, release }) => store.point('s', release)))
    for (const end of ends) if (end.status === 'rejected') expect(end.reason).toMatchObject({ kind: 'conflict', code: 'pointer_contended' })
    const refs = refsOf(repository)
    const winner = refs[scenarioRef('s')]
    expect(releases.map(({ release_id }) => release_id)).toContain(winner)
    const pointed = releases.filter((_, index) => ends[index]?.status === 'fulfilled').map(({ release_id }) => release_id)
    expect(pointed.filter((id) => !Object.values(refs).includes(id))).toEqual([])
  })

  it('have what a killed one announced, with an empty copy of their own', async () => {
    const repository = newRepository()
    const writer = fileURLToPath(new URL('writer.fixture.mjs', import.meta.url))
    const given = JSON.stringify({ repository, s3: server.s3, cache: cacheFolder() })
    const child = spawn(process.execPath, [writer, given], { stdio: ['ignore', 'pipe', 'inherit'] })
    const announced: { files: Files; release: Release }[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      const said: { files: Files; release: Release } = JSON.parse(line)
      announced.push(said)
      if (announced.length === 5) child.kill('SIGKILL')
    }
    const store = await open(repository)
    for (const { files, release } of announced) {
      expect(await store.find(release.release_id)).toEqual(release)
      expect({ ...(await store.read(release.content_id)) }).toEqual(files)
    }
    expect(announced.length).toBeGreaterThanOrEqual(5)
    gitSays(copyOf(repository), 'fsck', '--strict', '--full', '--no-dangling')
  })
})

describe('the folder in the bucket', () => {
  it('is a bare git repository for who copies it', async () => {
    const repository = newRepository()
    const store = await open(repository)
    const release = await publish(store, { 'b.txt': '1', 'b/c': '2', 'é/ü': '3' })
    await store.point('s', release)
    const copy = copyOf(repository)
    gitSays(copy, 'fsck', '--strict', '--full')
    expect(gitSays(copy, 'show', `${scenarioRef('s')}:b/c`)).toBe('2')
  })

  it('is asked for nothing that was written or read here', async () => {
    const repository = newRepository()
    const cache = cacheFolder()
    const release = await publish(await open(repository, cache), { a: '1', 'b/c': '2' })
    const again = await open(repository, cache)
    rmSync(join(folderOf(repository), 'objects'), { recursive: true })
    expect(await again.find(release.release_id)).toEqual(release)
    expect({ ...(await again.read(release.content_id)) }).toEqual({ a: '1', 'b/c': '2' })
  })

  it('may lie at the root of the bucket, beside others', async () => {
    const [whole, part] = [await open(`s3://${BUCKET}`), await open(`s3://${BUCKET}/deep/er/`)]
    const [a, b] = [await publish(whole, { a: 'whole' }), await publish(part, { a: 'part' })]
    expect([await whole.find(b.release_id), await part.find(a.release_id)]).toEqual([null, null])
  })
})

it('four processes that open a new repository at once make one of it', async () => {
  const repository = newRepository()
  mkdirSync(folderOf(repository), { recursive: true })
  const stores = await Promise.all(Array.from({ length: 4 }, () => open(repository)))
  const [release, ...others] = await Promise.all(stores.map((store) => publish(store, { same: 'same' })))
  expect(others).toEqual([release, release, release])
})
