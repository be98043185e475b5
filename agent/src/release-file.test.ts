import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { keepRelease, RELEASE_FILE, type Requires } from '@svc-ai/client/shared'
import { makeHome } from './testing/harness-home.ts'
import { HOSTILE_FILES } from './testing/hostile.ts'
import { readReleaseFile, unmet, withCheckOffs, writeReleaseFile } from './release-file.ts'

const MAIL: Requires = { name: 'mail', kind: 'service', check: 'true' }
const TERMS: Requires = { name: 'terms', kind: 'permission' }
const RELEASE = {
  release_id: 'r1',
  content_id: 'c1',
  files: ['a', 'b'],
  requires: [MAIL, TERMS],
  setup: [{ name: 'mail', checked_at: 1.5, check: 'true' }],
}

describe('the release file', () => {
  test('has one item a line and is read back as it was', async () => {
    const { path } = makeHome()
    await writeReleaseFile(path, RELEASE, path)
    expect(await readReleaseFile(path, path)).toEqual(RELEASE)
    expect(readFileSync(join(path, RELEASE_FILE), 'utf8').split('\n')).toContain('    {"name":"mail","checked_at":1.5,"check":"true"}')
  })

  test('of a plain pull needs nothing and has nothing checked off', async () => {
    const { path } = makeHome()
    keepRelease(path, path, '{"release_id":"r1","content_id":"c1","files":["a"]}')
    expect(await readReleaseFile(path, path)).toEqual({ release_id: 'r1', content_id: 'c1', files: ['a'], requires: [], setup: [] })
  })

  test.each(HOSTILE_FILES)('that came with a folder as %s is not read, also where another was written here', async (_kind, place) => {
    const { path } = makeHome()
    mkdirSync(join(path, 'cloned'))
    place(join(path, 'cloned', RELEASE_FILE))
    expect(await readReleaseFile(join(path, 'cloned'), path)).toBeNull()
    keepRelease(path, join(path, 'cloned'), '{"release_id":"ours"}')
    expect(await readReleaseFile(join(path, 'cloned'), path)).toMatchObject({ release_id: 'ours', files: [], setup: [] })
  })

  test('goes with its folder when that is moved, and not with a copy of it', async () => {
    const { path } = makeHome()
    const [before, after, copy] = [join(path, 'before'), join(path, 'after'), join(path, 'copy')]
    for (const folder of [before, copy]) mkdirSync(folder)
    await writeReleaseFile(before, RELEASE, path)
    writeFileSync(join(copy, RELEASE_FILE), readFileSync(join(before, RELEASE_FILE)))
    renameSync(before, after)
    expect([await readReleaseFile(after, path), await readReleaseFile(copy, path)]).toEqual([RELEASE, null])
  })

  test('is absent where there is none', async () => {
    const { path } = makeHome()
    mkdirSync(join(path, 'empty'))
    expect([await readReleaseFile(join(path, 'empty'), path), await readReleaseFile(join(path, 'nowhere'), path)]).toEqual([null, null])
  })
})

describe('an item', () => {
  test.each([
    ['is met by a check-off of the same check', [{ name: 'mail', checked_at: 1, check: 'true' }], true],
    ['is met by an old check-off that knows no check', [{ name: 'mail', checked_at: 1 }], true],
    ['is unmet by a check-off of another check', [{ name: 'mail', checked_at: 1, check: 'false' }], false],
    ['is unmet by a check-off from when it had none', [{ name: 'mail', checked_at: 1, check: null }], false],
    ['is unmet by a check-off of another name', [{ name: 'terms', checked_at: 1, check: 'true' }], false],
  ])('%s', (_case, setup, isMet) => {
    expect(unmet([MAIL], setup)).toEqual(isMet ? [] : [MAIL])
  })

  test('without a check is met by a check-off without one, no longer once it had one', () => {
    expect(unmet([TERMS], [{ name: 'terms', checked_at: 1, check: null }])).toEqual([])
    expect(unmet([TERMS], [{ name: 'terms', checked_at: 1, check: 'true' }])).toEqual([TERMS])
  })

  test('that is checked off again has its later check-off alone', () => {
    const [first, again] = [
      { name: 'mail', checked_at: 1, check: 'a' },
      { name: 'mail', checked_at: 2, check: 'b' },
    ]
    expect(withCheckOffs([first], [again])).toEqual([again])
  })
})
