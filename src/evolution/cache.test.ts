/** What is known of episodes, over restarts and torn files. */
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { FolderDocuments } from '../kit/index.ts'
import { cacheKey, EpisodeCache, type Known } from './cache.ts'

let folder: string
beforeEach(() => void (folder = temporaryFolder()))

const path = (): string => join(folder, 'deep/er/episodes.jsonl')
const documents = (): FolderDocuments => new FolderDocuments(join(folder, 'deep/er'))
const episode = (stdout: string) => ({ exitCode: 0, stdout, stderr: '', trajectory: [] })
const known: Known = {
  score: 0.5,
  failure: null,
  troubles: 0,
  at: 5,
  step: 1,
  answeredBy: null,
  took: { cost: null, seconds: 2 },
  place: 's/1/episodes/candidate-0',
  worker: 'machine-1/first',
}

describe('a cache of episodes', () => {
  it('knows what was put into it, also after it was opened again', async () => {
    const cache = await EpisodeCache.open(documents())
    expect(cache.get('a')).toBeNull()
    await cache.put('a', known)
    const other: Known = { ...known, failure: 'it took too long and was ended', troubles: 1, took: { cost: 0.5, seconds: 0 } }
    await cache.put('b', other)
    await cache.put('c', { ...known, took: null })
    const again = await EpisodeCache.open(documents())
    expect(['a', 'b', 'c'].map((key) => again.get(key))).toEqual([known, other, { ...known, took: null }])
  })

  it('keeps what was played last', async () => {
    const cache = await EpisodeCache.open(documents())
    await cache.put('a', known)
    await cache.put('a', { ...known, score: 1 })
    expect([cache.get('a')?.score, (await EpisodeCache.open(documents())).get('a')?.score]).toEqual([1, 1])
  })

  it('leaves out a line that a crash cut short and lines that are none of its own', async () => {
    const cache = await EpisodeCache.open(documents())
    await cache.put('a', known)
    await appendFile(path(), '["b",1,null,0,5,1,null]\n["c","high",null,0,5,1]\n["e",1,null]\n{}\nnot json\n["d",0.2')
    const again = await EpisodeCache.open(documents())
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => again.get(key)?.score)).toEqual([0.5, 1, undefined, undefined, undefined])
  })

  it('writes nothing on to a line that a crash cut short', async () => {
    const cache = await EpisodeCache.open(documents())
    await cache.put('a', known)
    await appendFile(path(), '["b",0.2')
    await (await EpisodeCache.open(documents())).put('c', known)
    const again = await EpisodeCache.open(documents())
    expect(['a', 'b', 'c'].map((key) => again.get(key)?.score)).toEqual([0.5, undefined, 0.5])
  })

  it('goes on without a disk', async () => {
    await writeFile(join(folder, 'deep'), 'a file where a folder should be')
    const cache = await EpisodeCache.open(documents())
    await cache.put('a', known)
    expect(cache.get('a')).toEqual(known)
  })

  it('forgets every score at once, also over a restart', async () => {
    const cache = await EpisodeCache.open(documents())
    await cache.put('a', known)
    await cache.flush()
    await cache.put('b', known)
    const again = await EpisodeCache.open(documents())
    expect([cache.get('a'), again.get('a'), again.get('b')]).toEqual([null, null, known])
  })

  it('may not be used any more once an answer names another model, and then knows both names', async () => {
    const cache = await EpisodeCache.open(documents())
    await cache.put('a', { ...known, answeredBy: 'm 1' })
    await cache.put('b', known)
    expect(cache.problem).toBeNull()
    const again = await EpisodeCache.open(documents())
    await again.put('c', { ...known, answeredBy: 'm 2' })
    expect(again.problem).toBe('the answers name another model or version than before')
    await again.flush()
    for (const answeredBy of ['m 1', 'm 2', 'm 1']) await again.put('d', { ...known, answeredBy })
    expect(again.problem).toBeNull()
  })

  it('may not be used any more once scores that are played again mostly rise, or mostly fall', async () => {
    for (const [before, now] of [
      [0, 1],
      [0.7, 0.2],
    ] as const) {
      const cache = await EpisodeCache.open(documents())
      for (let n = 0; n < 4; n += 1) cache.compare(before, now)
      expect(cache.problem).toBeNull()
      cache.compare(1, 1)
      cache.compare(before, now)
      expect(cache.problem).toContain('of 6 known scores')
      await cache.flush()
      expect(cache.problem).toBeNull()
    }
  })

  it('may be used where they differ by chance', async () => {
    const cache = await EpisodeCache.open(documents())
    for (let n = 0; n < 40; n += 1) cache.compare(n % 2, 1 - (n % 2))
    expect(cache.problem).toBeNull()
  })

  it('is written again with the newest half once it is long', async () => {
    const lines = Array.from({ length: 20_001 }, (_, n) => `["k${n}",1,null,0,5,1,null]\n`).join('')
    await writeFile(join(folder, 'episodes.jsonl'), lines)
    const cache = await EpisodeCache.open(new FolderDocuments(folder))
    expect([cache.get('k0'), cache.get('k20000')]).toEqual([null, { ...known, score: 1, took: null, place: null, worker: null }])
    expect((await readFile(join(folder, 'episodes.jsonl'), 'utf8')).trim().split('\n')).toHaveLength(10_000)
  })

  it('remembers studied episodes up to a number, and none that is large or cannot be printed', async () => {
    const cache = await EpisodeCache.open(documents())
    for (let n = 0; n <= 256; n += 1) cache.study(`k${n}`, episode(String(n)))
    cache.study('large', episode('x'.repeat(300_000)))
    cache.study('deep', { ...episode(''), trajectory: [JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)] })
    const kept = [cache.episode('k0'), cache.episode('k256')?.stdout, cache.episode('large'), cache.episode('deep')]
    expect(kept).toEqual([null, '256', null, null])
  })
})

it('a key is the same for the same values, however their fields are ordered, and another for anything else', () => {
  expect(cacheKey([{ a: 1, b: 2 }, 0])).toBe(cacheKey([{ b: 2, a: 1 }, 0]))
  expect(cacheKey([{ a: 1 }, 0])).not.toBe(cacheKey([{ a: 1 }, 1]))
})
