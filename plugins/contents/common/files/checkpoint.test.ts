/** Large files beside git, and folders made of them again. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ContentStore } from '../../../../src/contract/index.ts'
import { fresh, freshPath, fsck, gitSays, open } from '../../git/testing/repositories.ts'

const BINARY = Buffer.from([0, 255, 1, 2])
const SHA256 = createHash('sha256').update(BINARY).digest('hex')
const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${SHA256}\nsize 4\n`

describe('taking', () => {
  it('puts a large file where git-lfs looks for it, and its pointer into the tree', async () => {
    const { path, store } = await fresh()
    const contentId = await take(store, { 'weights/model.safetensors': BINARY, 'config.json': '{}' })
    expect(readFileSync(keptAt(path, SHA256))).toEqual(BINARY)
    expect(gitSays(path, 'show', `${contentId}:weights/model.safetensors`)).toBe(POINTER)
    expect(gitSays(path, 'show', `${contentId}:config.json`)).toBe('{}')
    fsck(path)
  })

  it('a text of exactly a mebibyte is a blob, and one byte more is a large file', async () => {
    const { path, store } = await fresh()
    const mebibyte = 1024 * 1024
    const contentId = await take(store, { fits: 'x'.repeat(mebibyte), over: 'x'.repeat(mebibyte + 1) })
    expect(gitSays(path, 'cat-file', '-s', `${contentId}:fits`).trim()).toBe(String(mebibyte))
    expect(gitSays(path, 'show', `${contentId}:over`)).toMatch(/^version .*\noid sha256:.*\nsize 1048577\n$/)
  })

  it('writes equal bytes once, whatever they are called and however often they come', async () => {
    const { path, store } = await fresh()
    await take(store, { 'a.bin': BINARY, 'b.bin': BINARY })
    const { ino } = statSync(keptAt(path, SHA256))
    await take(store, { 'c.bin': BINARY })
    expect(statSync(keptAt(path, SHA256)).ino).toBe(ino)
    expect(largeFiles(path)).toEqual([SHA256])
  })

  it('puts a large file right that lost bytes, when they are brought again', async () => {
    const { path, store } = await fresh()
    await take(store, { 'a.bin': BINARY })
    chmodSync(keptAt(path, SHA256), 0o644)
    truncateSync(keptAt(path, SHA256), 1)
    await take(store, { 'a.bin': BINARY })
    expect(readFileSync(keptAt(path, SHA256))).toEqual(BINARY)
  })

  it('refuses a pipe without waiting for anybody to write to it', async () => {
    const { store } = await fresh()
    const folder = folderOf({ a: '1' })
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(folder, 'pipe')])
    await expect(store.write({ kind: 'checkpoint', path: folder })).rejects.toMatchObject({ code: 'bad_checkpoint', message: /"pipe"/ })
    await expect(store.write({ kind: 'checkpoint', path: join(folder, 'pipe') })).rejects.toMatchObject({ code: 'bad_checkpoint' })
  })

  it('follows the path it is given when that is a link, and keeps a file under the name it was asked by', async () => {
    const { store } = await fresh()
    const folder = folderOf({ 'step-7/model.bin': BINARY })
    symlinkSync('step-7', join(folder, 'latest'))
    symlinkSync('step-7/model.bin', join(folder, 'best.bin'))
    const [whole, one] = await Promise.all(
      ['latest', 'best.bin'].map((name) => store.write({ kind: 'checkpoint', path: join(folder, name) })),
    )
    expect({ ...(await store.read(whole ?? '')) }).toEqual({ 'model.bin': POINTER })
    expect({ ...(await store.read(one ?? '')) }).toEqual({ 'best.bin': POINTER })
  })

  it('refuses a name that is not Unicode', async () => {
    const { store } = await fresh()
    const folder = folderOf({ a: '1' })
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe])]), 'x')
    await expect(store.write({ kind: 'checkpoint', path: folder })).rejects.toMatchObject({ code: 'bad_checkpoint' })
  })

  it('leaves nothing half-written when it is refused, and no tree', async () => {
    const { path, store } = await fresh()
    const folder = folderOf({ 'a.bin': BINARY, 'z/b': '1' })
    symlinkSync('nowhere', join(folder, 'z/link'))
    await expect(store.write({ kind: 'checkpoint', path: folder })).rejects.toMatchObject({ code: 'bad_checkpoint' })
    expect(readdirSync(join(path, 'svc-writing'))).toEqual([])
    expect(gitSays(path, 'count-objects').trim()).toMatch(/^0 objects/)
  })

  it('leaves nothing half-written and no tree when the disk fails it', async () => {
    const { path, store } = await fresh()
    mkdirSync(join(keptAt(path, SHA256), 'in the way'), { recursive: true })
    await expect(take(store, { 'a.bin': BINARY })).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/)
    expect(readdirSync(join(path, 'svc-writing'))).toEqual([])
    expect(gitSays(path, 'count-objects').trim()).toMatch(/^0 objects/)
    rmSync(keptAt(path, SHA256), { recursive: true })
    const contentId = await take(store, { 'a.bin': BINARY })
    expect({ ...(await store.read(contentId)) }).toEqual({ 'a.bin': POINTER })
  })

  it('sweeps what a crash left half-written or half-unpacked', async () => {
    const { path, store } = await fresh()
    await store.close()
    mkdirSync(join(path, 'svc-writing', 'half', 'deep'), { recursive: true })
    writeFileSync(join(path, 'svc-writing', 'half', 'deep', 'file'), 'x')
    writeFileSync(join(path, 'svc-writing', 'large'), 'x')
    await open(path)
    expect(readdirSync(join(path, 'svc-writing'))).toEqual([])
  })
})

describe('unpacking', () => {
  it('gives large files a second name and no second copy, and survives a restart', async () => {
    const { path, store } = await fresh()
    const contentId = await take(store, { 'a/model.bin': BINARY })
    const folder = await store.unpack(contentId)
    expect(folder).toBe(join(path, 'svc-unpacked', contentId))
    expect(statSync(join(folder, 'a/model.bin')).ino).toBe(statSync(keptAt(path, SHA256)).ino)
    const { ino } = statSync(folder)
    await store.close()
    expect(statSync(await (await open(path)).unpack(contentId)).ino).toBe(ino)
  })

  it.each([
    ['is missing', (file: string): void => rmSync(file)],
    ['lost bytes', (file: string): void => truncateSync(file, 1)],
    ['holds other bytes', (file: string): void => writeFileSync(file, Buffer.from([9, 9, 9, 9]))],
  ])('says so when a large file %s, and leaves no folder', async (_, damage) => {
    const { path, store } = await fresh()
    const contentId = await take(store, { 'a/model.bin': BINARY, 'a/b': '1' })
    chmodSync(keptAt(path, SHA256), 0o644)
    damage(keptAt(path, SHA256))
    await expect(store.unpack(contentId)).rejects.toMatchObject({ kind: 'unavailable', code: 'content_damaged' })
    expect(existsSync(join(path, 'svc-unpacked', contentId))).toBe(false)
    expect(readdirSync(join(path, 'svc-writing'))).toEqual([])
    expect({ ...(await store.read(contentId)) }).toEqual({ 'a/model.bin': POINTER, 'a/b': '1' })
    rmSync(keptAt(path, SHA256), { force: true })
    await take(store, { 'a/model.bin': BINARY })
    expect(readFileSync(join(await store.unpack(contentId), 'a/model.bin'))).toEqual(BINARY)
  })

  it('two stores of one repository, opening and unpacking at once, end with one whole folder', async () => {
    const { path, store } = await fresh()
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index % 7}/${index}`, `${index}`]))
    const contentId = await store.write({ kind: 'files', files })
    const folders = await Promise.all(
      [store, store].map(async (one) => one.unpack(contentId)).concat([0, 1, 2].map(() => openAndUnpack(path, contentId))),
    )
    expect(new Set(folders)).toEqual(new Set([join(path, 'svc-unpacked', contentId)]))
    for (const [name, text] of Object.entries(files)) expect(readFileSync(join(folders[0] ?? '', name), 'utf8')).toBe(text)
    expect(readdirSync(join(path, 'svc-writing'))).toEqual([])
  })
})

async function openAndUnpack(path: string, contentId: string): Promise<string> {
  return (await open(path)).unpack(contentId)
}

function folderOf(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = join(dirname(freshPath()), 'checkpoint')
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), bytes)
  }
  return folder
}

const take = (store: ContentStore, files: Readonly<Record<string, string | Buffer>>): Promise<string> =>
  store.write({ kind: 'checkpoint', path: folderOf(files) })

const keptAt = (repository: string, sha256: string): string =>
  join(repository, 'lfs', 'objects', sha256.slice(0, 2), sha256.slice(2, 4), sha256)

const largeFiles = (repository: string): string[] =>
  readdirSync(join(repository, 'lfs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
