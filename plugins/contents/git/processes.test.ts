/** Several processes on one repository, and processes that die. */
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scenarioRef } from '../common/refs/ref-names.ts'
import { killAfter, spawnFixture, spawnWriter, type Published } from './testing/processes.ts'
import { freshPath, fsck, open, refsOf } from './testing/repositories.ts'

describe('writers', () => {
  it('eight processes writing the same objects leave a clean repository and every pointer', async () => {
    const path = freshPath()
    const writers = Array.from({ length: 8 }, (_, index) => spawnWriter({ repository: path }, `w${index}`, 4))
    const codes = await Promise.all(writers.map(async (writer) => (await once(writer, 'exit'))[0] as unknown))
    expect(codes).toEqual(Array.from({ length: 8 }, () => 0))
    fsck(path)
    expect(Object.keys(refsOf(path))).toHaveLength(8)
    expect(readdirSync(join(path, '..'))).toEqual(['artifacts.git'])
  })

  it('a writer killed at any moment leaves what it announced, nothing half, and a pointer that can be set again', async () => {
    const path = freshPath()
    for (const linesBeforeKill of [1, 3, 9]) {
      const announced = await killAfter<Published>(spawnWriter({ repository: path }, 'w', 10_000), linesBeforeKill)
      const store = await open(path)
      for (const { files, release } of announced) {
        expect(await store.find(release.release_id)).toEqual(release)
        expect({ ...(await store.read(release.content_id)) }).toEqual(files)
      }
      const last = announced.at(-1)
      if (last !== undefined) await store.point('w', last.release)
      expect(refsOf(path)[scenarioRef('w')]).toBe(last?.release.release_id)
      expect(readdirSync(join(path, 'svc-writing'))).toEqual([])
      fsck(path)
    }
  })

  it('a taker of checkpoints killed at any moment leaves whole files, whole folders and everything it announced', async () => {
    const path = freshPath()
    for (const linesBeforeKill of [1, 4, 7]) {
      const taker = spawnFixture('taker.fixture.mjs', [path, join(dirname(path), 'checkpoint')])
      const announced = await killAfter<{ contentId: string; note: string }>(taker, linesBeforeKill)
      const store = await open(path)
      for (const { contentId, note } of announced) {
        const folder = await store.unpack(contentId)
        expect(readFileSync(join(folder, 'note'), 'utf8')).toBe(note)
        expect((await store.read(contentId))['model.bin']).toContain(sha256Of(join(folder, 'model.bin')))
      }
      for (const file of filesBelow(join(path, 'lfs'))) expect(sha256Of(file)).toBe(basename(file))
      for (const id of readdirSync(join(path, 'svc-unpacked')))
        expect(readdirSync(join(path, 'svc-unpacked', id))).toEqual(['model.bin', 'note'])
      expect(readdirSync(join(path, 'svc-writing'))).toEqual([])
      fsck(path)
    }
  })
})

const sha256Of = (file: string): string => hash('sha256', readFileSync(file))

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
