/** Conformance suite for content stores, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Files, SealMark } from '../src/contract/index.ts'
import { describeCheckpoints } from './contents-checkpoints.ts'
import { MARK, over, sealed, stranger, TREE, written, type ContentsSuite } from './contents-support.ts'
import { assertRefused } from './support.ts'

export type { ContentsSuite }

const BAD_PATHS = [
  ['empty', ''],
  ['absolute', '/etc/passwd'],
  ['ending in a slash', 'a/'],
  ['with an empty segment', 'a//b'],
  ['with a dot', './a'],
  ['climbing out', 'a/../../b'],
  ['with two dots alone', '..'],
  ['with a backslash', 'a\\..\\b'],
  ['with a NUL', 'a\0b'],
  ['naming a git folder', '.git/config'],
  ['naming a git folder in capitals', 'a/.GIT/hooks/x'],
  ['naming a git folder for Windows', 'git~1/config'],
  ['naming a git folder with a trailing dot', '.git. /config'],
  ['naming a git folder with a stream', '.git::$INDEX_ALLOCATION/config'],
  ['naming a git folder with an invisible character', '.g\u200cit/config'],
  ['with half a surrogate pair', 'a\ud800'],
  ['longer than a path can be', 'a/'.repeat(2048) + 'a'],
] as const

export function contentsConformance(suite: ContentsSuite): void {
  const { describe } = suite
  describe('contents', () => describeContents(suite))
  describe('composed contents', () => describeComposed(suite))
  describe('checkpoints', () => describeCheckpoints(suite))
  describe('releases', () => describeReleases(suite))
  describe('pointers', () => describePointers(suite))
}

function describeContents(suite: ContentsSuite): void {
  const test = over(suite)
  test('what is written is read back', async (store) => {
    const id = await written(store, TREE)
    assert.deepEqual({ ...(await store.read(id)) }, TREE)
  })
  test('the empty tree is a content', async (store) => {
    const id = await written(store, {})
    assert.deepEqual({ ...(await store.read(id)) }, {})
  })
  test('equal files have an equal id, in whatever order they come', async (store) => {
    const reversed = Object.fromEntries(Object.entries(TREE).toReversed())
    assert.equal(await written(store, TREE), await written(store, reversed))
  })
  test('another text, another name or another folder makes another id', async (store) => {
    const variants: Files[] = [{ 'a/b': '1' }, { 'a/b': '2' }, { 'a/c': '1' }, { a: '1' }, { 'a/b/c': '1' }, { 'a/b': '1', c: '' }]
    const ids = await Promise.all(variants.map((files) => written(store, files)))
    assert.equal(new Set(ids).size, variants.length)
  })
  test('eight writers of the same content agree', async (store) => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => written(store, TREE)))
    assert.equal(new Set(ids).size, 1)
    assert.deepEqual({ ...(await store.read(ids[0] ?? '')) }, TREE)
  })
  test('a content that is not here is unknown', async (store) => {
    for (const id of ['0'.repeat(40), 'nonsense', '']) await assertRefused('unknown', 'unknown_content', store.read(id))
  })
  for (const [what, path] of BAD_PATHS) {
    test(`a path ${what} is refused`, async (store) => {
      await assertRefused('invalid', 'bad_path', written(store, { good: '', [path]: 'x' }))
    })
  }
  test('a name that is a file and a folder at once is refused', async (store) => {
    await assertRefused('invalid', 'bad_path', written(store, { 'a/b/c': '', 'a/b': '' }))
    await assertRefused('invalid', 'bad_path', written(store, { a: '', 'a/b/c': '' }))
  })
  test('text that is not Unicode is refused, since it could not be read back', async (store) => {
    await assertRefused('invalid', 'bad_text', written(store, { a: 'half \udc00' }))
  })
}

function describeComposed(suite: ContentsSuite): void {
  const test = over(suite)
  test('a composed content is what its files would be in a folder per component, with the same id', async (store) => {
    const harness = await written(store, TREE)
    const weights = await store.write({ kind: 'files', files: { 'a/config.json': '{}' } })
    const id = await store.write({ kind: 'composed', components: { weights, 'harness-x': harness } })
    const flat = { ...below('harness-x', TREE), 'weights/a/config.json': '{}' }
    assert.deepEqual({ ...(await store.read(id)) }, flat)
    assert.equal(id, await written(store, flat))
  })
  test('a component without files leaves no trace, as if its files had been written one by one', async (store) => {
    const empty = await written(store, {})
    const full = await written(store, { a: '1' })
    const id = await store.write({ kind: 'composed', components: { full, empty } })
    assert.equal(id, await written(store, { 'full/a': '1' }))
    assert.equal(await store.write({ kind: 'composed', components: { empty } }), empty)
  })
  test('a composed content can be a component, be sealed and be unpacked', async (store) => {
    const inner = await store.write({ kind: 'composed', components: { a: await written(store, { f: '1' }) } })
    const id = await store.write({ kind: 'composed', components: { b: inner } })
    const release = await store.seal(id, null, MARK)
    assert.deepEqual({ ...(await store.find(release.release_id)) }, release)
    assert.equal(await readFile(join(await store.unpack(id), 'b/a/f'), 'utf8'), '1')
  })
  test('a component that is no content kept here is unknown', async (store) => {
    const known = await written(store, { a: '1' })
    const release = await store.seal(known, null, MARK)
    for (const id of ['0'.repeat(40), 'nonsense', '', release.release_id])
      await assertRefused('unknown', 'unknown_content', store.write({ kind: 'composed', components: { known, other: id } }))
  })
  test('a component is named like one folder', async (store) => {
    const known = await written(store, { a: '1' })
    for (const name of ['', '.', '..', 'a/b', '/a', 'a/', 'a\\b', 'a\0', '.git', '.GIT.', 'git~1', 'a\ud800'])
      await assertRefused('invalid', 'bad_path', store.write({ kind: 'composed', components: { good: known, [name]: known } }))
  })
  test('nothing cannot be composed', async (store) => {
    await assertRefused('invalid', 'bad_components', store.write({ kind: 'composed', components: {} }))
  })
}

function describeReleases(suite: ContentsSuite): void {
  const test = over(suite)
  test('a release carries its content and parent and is found by its id', async (store) => {
    const first = await sealed(store, { a: '1' }, null, { ...MARK, step: 0, operation: 'create' })
    const second = await sealed(store, { a: '2' }, first, MARK)
    assert.equal(first.parent_release_id, null)
    assert.equal(second.parent_release_id, first.release_id)
    assert.deepEqual({ ...(await store.find(first.release_id)) }, first)
    assert.deepEqual({ ...(await store.find(second.release_id)) }, second)
    assert.deepEqual({ ...(await store.read(second.content_id)) }, { a: '2' })
  })
  test('sealing again with the same mark answers the same release', async (store) => {
    assert.deepEqual(await sealed(store, { a: '1' }, null, MARK), await sealed(store, { a: '1' }, null, { ...MARK, at: 1_763_180_000.1 }))
  })
  test('another step, operation, time or parent makes another release of the same content', async (store) => {
    const base = await sealed(store, { a: '1' }, null, MARK)
    const changes: Partial<SealMark>[] = [{ step: 4 }, { operation: 'rollback' }, { at: MARK.at + 1 }]
    const others = await Promise.all(changes.map((change) => sealed(store, { a: '1' }, null, { ...MARK, ...change })))
    const child = await sealed(store, { a: '1' }, base, MARK)
    assert.equal(new Set([base, ...others, child].map((release) => release.release_id)).size, 5)
    assert.equal(new Set([base, ...others, child].map((release) => release.content_id)).size, 1)
  })
  test('a content or parent that is not here cannot be sealed', async (store) => {
    await assertRefused('unknown', 'unknown_content', store.seal('0'.repeat(40), null, MARK))
    const contentId = await written(store, {})
    await assertRefused('unknown', 'unknown_release', store.seal(contentId, stranger(contentId), MARK))
  })
  test('what is no release is not found', async (store) => {
    const contentId = await written(store, { a: '1' })
    for (const id of [contentId, '0'.repeat(40), 'HEAD', '', '../../x', 'A'.repeat(40)]) assert.equal(await store.find(id), null)
  })
}

function describePointers(suite: ContentsSuite): void {
  const test = over(suite)
  test('a pointer can be set, set again and moved, under any name a scenario may have', async (store) => {
    const first = await sealed(store, {}, null, MARK)
    const second = await sealed(store, { a: '1' }, first, MARK)
    for (const name of ['plain', 'with space', 'ünïcode 𝄞', '-', '.hidden', 'x.lock', 'a~b^c:d', 'n'.repeat(200), '𝄞'.repeat(200)]) {
      for (const release of [first, first, second]) await store.point(name, release)
    }
  })
  test('many points at once all land, and a bad one fails alone', async (store) => {
    const release = await sealed(store, {}, null, MARK)
    const names = Array.from({ length: 50 }, (_, index) => `scenario ${index}`)
    const points = names.map((name) => store.point(name, release))
    const bad = assertRefused('unknown', 'unknown_release', store.point('other', stranger(release.content_id)))
    await Promise.all([...points, bad])
  })
  test('a release can be held again and again, before and after it is pointed at', async (store) => {
    const release = await sealed(store, { a: '1' }, null, MARK)
    await Promise.all([store.hold(release), store.hold(release), store.point('one', release)])
    await store.hold(release)
    assert.deepEqual({ ...(await store.find(release.release_id)) }, release)
    await assertRefused('unknown', 'unknown_release', store.hold(stranger(release.content_id)))
  })
  test('a pointer can be taken back to an older release and to one of another line', async (store) => {
    const first = await sealed(store, {}, null, MARK)
    const second = await sealed(store, { a: '1' }, first, MARK)
    const other = await sealed(store, { b: '1' }, null, MARK)
    for (const release of [second, first, other, second, other]) await store.point('one', release)
    for (const release of [first, second, other]) assert.deepEqual({ ...(await store.find(release.release_id)) }, release)
  })
  test('archiving answers a name of its own and keeps every release', async (store) => {
    const release = await sealed(store, { a: '1' }, null, MARK)
    await store.point('one', release)
    const names = [await store.archive('one', '0001'), await store.archive('other', '0001')]
    await store.point('one', release)
    names.push(await store.archive('one', '0002'))
    assert.equal(new Set(names).size, 3)
    assert.deepEqual({ ...(await store.find(release.release_id)) }, release)
    assert.deepEqual({ ...(await store.read(release.content_id)) }, { a: '1' })
  })
  test('archiving a scenario that was never pointed answers the name it would have', async (store) => {
    const name = await store.archive('never', '0001')
    assert.equal(await store.archive('never', '0001'), name)
  })
  test('an archive is never overwritten', async (store) => {
    const release = await sealed(store, {}, null, MARK)
    await store.point('one', release)
    await store.archive('one', '0001')
    await store.point('one', release)
    await assertRefused('conflict', 'archive_exists', store.archive('one', '0001'))
  })
}

const below = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]))
