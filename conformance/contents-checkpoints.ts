/** Content store conformance for checkpoints: folders are stored and unpacked unchanged. */
import assert from 'node:assert/strict'
import { mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { TEXT_FILE_BYTES_MAX, type ContentStore } from '../src/contract/index.ts'
import { entriesBelow } from '../src/kit/index.ts'
import { over, written, type ContentsSuite } from './contents-support.ts'
import { assertRefused, withFolder } from './support.ts'

type FolderFiles = Readonly<Record<string, string | Buffer>>

const BINARY = Buffer.from([0, 255, 254, 10, 128])
const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 5\n`
const CHECKPOINT: FolderFiles = {
  'config.json': '{"é": "𝄞"}\n',
  'nested/deep/notes.md': 'text',
  'nested/empty': '',
  'empty.safetensors': '',
  'model.safetensors': 'text by its bytes, weights by its name',
  'MODEL.BIN': BINARY,
  picture: BINARY,
  'long.txt': 'x'.repeat(1024 * 1024 + 1),
  'pointer.txt': POINTER,
}
/** Texts at the edge of each rule for large files. */
const TEXTS: Readonly<Record<string, string>> = {
  'fits.txt': 'x'.repeat(TEXT_FILE_BYTES_MAX),
  'model.bin.md': 'weights only in the middle of its name',
  bin: 'an ending of weights without its dot',
  'pointer-and-more.txt': `${POINTER}x`,
  'pointer-without-end.txt': POINTER.trimEnd(),
  'pointer-of-another-system.txt': POINTER.replaceAll('\n', '\r\n'),
  'pointer-begun.md': 'version https://git-lfs.github.com/spec/v1\nis what a pointer begins with\n',
}
const LARGE: FolderFiles = {
  'over.txt': 'x'.repeat(TEXT_FILE_BYTES_MAX + 1),
  ...Object.fromEntries(['safetensors', 'bin', 'PT', 'pth', 'ckpt', 'Gguf', 'npz'].map((ending) => [`deep/model.${ending}`, ending])),
  'half-a-character.txt': Buffer.from('é').subarray(0, 1),
  'whole-pointer': POINTER,
}

export function describeCheckpoints(suite: ContentsSuite): void {
  const test = over(suite)
  test('a folder is unpacked as it was taken: texts, binaries, empty files and what only looks like a pointer', async (store) => {
    await withFiles(CHECKPOINT, async (path) => {
      const id = await taken(store, path)
      await rm(path, { recursive: true })
      assert.deepEqual(await filesIn(await store.unpack(id)), bytesOf(CHECKPOINT))
    })
  })
  test('what is no small text reads as a few lines that name it', async (store) => {
    await withFiles(CHECKPOINT, async (path) => {
      const files = await store.read(await taken(store, path))
      assert.deepEqual(Object.keys(files).toSorted(), Object.keys(CHECKPOINT).toSorted())
      for (const name of ['config.json', 'nested/deep/notes.md', 'nested/empty', 'empty.safetensors'])
        assert.equal(files[name], CHECKPOINT[name])
      for (const name of ['model.safetensors', 'MODEL.BIN', 'picture', 'long.txt', 'pointer.txt']) {
        assert.notEqual(files[name], CHECKPOINT[name])
        assert.ok((files[name] ?? '').length < 500)
      }
      assert.equal(files['MODEL.BIN'], files['picture'])
    })
  })
  test('large files are known by length, name and bytes, and a text that only resembles a pointer is a text', async (store) => {
    await withFiles({ ...TEXTS, ...LARGE }, async (path) => {
      const id = await taken(store, path)
      const files = await store.read(id)
      for (const [name, text] of Object.entries(TEXTS)) assert.ok(files[name] === text, `${name} is not a text`)
      for (const [name, bytes] of Object.entries(LARGE)) assert.ok(files[name] !== bytes.toString(), `${name} is not large`)
      assert.deepEqual(await filesIn(await store.unpack(id)), bytesOf({ ...TEXTS, ...LARGE }))
    })
  })
  test('equal folders have equal ids, and a byte more or another name makes another', async (store) => {
    const folders = [CHECKPOINT, CHECKPOINT, { ...CHECKPOINT, picture: Buffer.concat([BINARY, BINARY]) }, { ...CHECKPOINT, more: '' }]
    const ids: string[] = []
    for (const files of folders) await withFiles(files, async (path) => void ids.push(await taken(store, path)))
    assert.equal(ids[0], ids[1])
    assert.equal(new Set(ids).size, 3)
  })
  test('a folder of small texts is the content of those files', async (store) => {
    const files = { 'a/b': '1', c: '', 'é.md': 'ü' }
    await withFiles(files, async (path) => {
      assert.equal(await taken(store, path), await written(store, files))
    })
  })
  test('what was read of a checkpoint can be written again with changes, and still names the large files', async (store) => {
    await withFiles({ 'model.bin': BINARY, note: '1' }, async (path) => {
      const files = await store.read(await taken(store, path))
      const id = await written(store, { ...files, note: '2' })
      assert.deepEqual(await filesIn(await store.unpack(id)), bytesOf({ 'model.bin': BINARY, note: '2' }))
    })
  })
  test('a single file is kept under its own name', async (store) => {
    await withFiles({ 'adapter.safetensors': BINARY, other: '' }, async (path) => {
      const id = await taken(store, join(path, 'adapter.safetensors'))
      assert.deepEqual(await filesIn(await store.unpack(id)), bytesOf({ 'adapter.safetensors': BINARY }))
    })
  })
  test('eight writes of the same folder agree, and eight calls that unpack it return one folder', async (store) => {
    await withFiles(CHECKPOINT, async (path) => {
      const ids = await Promise.all(Array.from({ length: 8 }, () => taken(store, path)))
      const folders = await Promise.all(ids.map((id) => store.unpack(id)))
      assert.equal(new Set(ids).size, 1)
      assert.equal(new Set(folders).size, 1)
      assert.deepEqual(await filesIn(folders[0] ?? ''), bytesOf(CHECKPOINT))
      assert.equal(await store.unpack(ids[0] ?? ''), folders[0])
    })
  })
  test('what is unpacked is read-only, and files and the empty content can be unpacked too', async (store) => {
    const folder = await store.unpack(await written(store, { 'a/b': '1' }))
    assert.equal((await stat(join(folder, 'a/b'))).mode & 0o222, 0)
    assert.deepEqual(await filesIn(await store.unpack(await written(store, {}))), {})
  })
  test('a content that is not here cannot be unpacked', async (store) => {
    await store.unpack(await written(store, { a: '1' }))
    for (const id of ['0'.repeat(40), 'nonsense', '', '.', '..']) await assertRefused('unknown', 'unknown_content', store.unpack(id))
  })
  test('a folder that is missing or holds no file is refused', async (store) => {
    await withFiles({ 'a/b/c': '' }, async (path) => {
      await rm(join(path, 'a/b/c'))
      for (const named of [path, join(path, 'missing'), '', '\0']) await assertRefused('invalid', 'bad_checkpoint', taken(store, named))
    })
  })
  test('a link inside a checkpoint is refused by its name, wherever it leads', async (store) => {
    await withFiles({ 'a/model.bin': BINARY, 'a/b/x': '' }, async (path) => {
      for (const target of ['model.bin', 'b', '/etc/passwd', 'nowhere']) {
        await symlink(target, join(path, 'a/link'))
        await assertRefused('invalid', 'bad_checkpoint', taken(store, path), /"a\/link"/)
        await rm(join(path, 'a/link'))
      }
    })
  })
  test('a git folder in a checkpoint is refused', async (store) => {
    await withFiles({ '.git/config': '[core]', a: '' }, (path) => assertRefused('invalid', 'bad_path', taken(store, path), /"\.git/))
  })
}

const withFiles = (files: FolderFiles, body: (path: string) => Promise<void>): Promise<void> =>
  withFolder(async (root) => {
    for (const [path, bytes] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), bytes)
    }
    await body(root)
  })

const taken = (store: ContentStore, path: string): Promise<string> => store.write({ kind: 'checkpoint', path })

const bytesOf = (files: FolderFiles): Record<string, Buffer> =>
  Object.fromEntries(Object.entries(files).map(([path, bytes]) => [path, Buffer.from(bytes)]))

async function filesIn(root: string): Promise<Record<string, Buffer>> {
  const entries = await entriesBelow(root)
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(await Promise.all(files.map(async (file) => [file.slice(root.length + 1), await readFile(file)])))
}
