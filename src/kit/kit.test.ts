/** The small tools: ids that ascend, one thing at a time, files that are old or new, text counted as people count. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { countCodePoints, firstCodePoints, Lane, newId, writeAtomicFile } from './index.ts'

describe('an id', () => {
  it('is 32 lower-case hex characters of a time-ordered UUID', () => {
    expect(newId()).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
  })

  it('is greater than every id made before it, also within one millisecond', () => {
    const ids = Array.from({ length: 20_000 }, newId)
    expect(ids).toEqual([...ids].sort())
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('a lane', () => {
  it('runs one task at a time, in the order asked, whether or not one fails', async () => {
    const lane = new Lane()
    const seen: string[] = []
    const task = (name: string, fails: boolean) => async (): Promise<void> => {
      seen.push(`${name} begins`)
      await Promise.resolve()
      seen.push(`${name} ends`)
      if (fails) throw new Error(name)
    }
    const results = await Promise.allSettled([lane.run(task('a', false)), lane.run(task('b', true)), lane.run(task('c', false))])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  })
})

describe('an atomic file', () => {
  it('replaces the old text whole, with the mode asked for, and leaves nothing beside it', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'deep', 'file.json')
    await writeAtomicFile(path, 'one')
    await writeAtomicFile(path, 'two', 0o600)
    expect(await readFile(path, 'utf8')).toBe('two')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await readdir(join(folder, 'deep'))).toEqual(['file.json'])
  })

  it('keeps the old text and cleans up when it cannot be put in place', async () => {
    const folder = temporaryFolder()
    await writeFile(join(folder, 'kept'), 'old')
    await expect(writeAtomicFile(join(folder, 'kept', 'below-a-file'), 'new')).rejects.toThrow()
    expect(await readdir(folder)).toEqual(['kept'])
  })
})

describe('text', () => {
  it('is counted and cut in code points', () => {
    expect(countCodePoints('a😀é')).toBe(3)
    expect(firstCodePoints('😀😀😀', 2)).toBe('😀😀')
    expect(firstCodePoints('abc', 5)).toBe('abc')
  })
})
