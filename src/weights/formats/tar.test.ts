/** Unpacking archives: those of real programs, and hostile ones. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { isRefusal } from '../../contract/index.ts'
import { unpackTar, type TarArchive } from './tar.ts'
import { refusal, tarOf, tarOfFiles } from './testing.ts'

const LIMITS = { filesMax: 4, bytesMax: 64 * 1024 }
const LONG = `${'folder-'.repeat(12)}/${'é'.repeat(60)}.json`

const filesIn = async (folder: string): Promise<Record<string, string>> => {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const pairs = names.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name)
    return [path.slice(folder.length + 1), await readFile(path, 'utf8')] as const
  })
  return Object.fromEntries((await Promise.all(pairs)).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const extended = (header: string): Buffer => tarOf([{ path: 'x', type: 'x', bytes: Buffer.from(header) }, { path: 'a' }])

/** In pieces of this length, as a network gives them. */
const streamOf = (bytes: Buffer, length: number): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) => bytes.subarray(index * length, (index + 1) * length)),
  )

const refused = async (archive: TarArchive, rule: string): Promise<void> => {
  const folder = temporaryFolder()
  const inside = join(folder, 'inside')
  mkdirSync(inside)
  await expect(unpackTar(archive, inside, LIMITS)).rejects.toEqual(refusal('bad_archive', rule))
  expect(await readdir(folder)).toEqual(['inside'])
}

describe('an archive', () => {
  it.each([
    ['ustar', []],
    ['pax', []],
    ['pax', ['--gzip']],
    ['gnu', ['--gzip']],
  ])('of tar in the form %s with %j is unpacked', async (format, options) => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'from/sub'), { recursive: true })
    writeFileSync(join(folder, 'from/a.json'), '{}')
    writeFileSync(join(folder, 'from/empty'), '')
    writeFileSync(join(folder, 'from/sub/b'), 'b'.repeat(1500))
    const out = join(folder, 'a.tar')
    execFileSync('tar', [`--format=${format}`, ...options, '-cf', out, '-C', join(folder, 'from'), '.'])
    const to = temporaryFolder()
    await unpackTar(await readFile(out), to, LIMITS)
    expect(await filesIn(to)).toEqual({ 'a.json': '{}', empty: '', 'sub/b': 'b'.repeat(1500) })
  })

  it('may have long names and letters of any alphabet', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, LONG, '..'), { recursive: true })
    writeFileSync(join(folder, LONG), 'long')
    const archive = execFileSync('tar', ['--format=pax', '-c', '-C', folder, LONG])
    const to = temporaryFolder()
    await unpackTar(archive, to, LIMITS)
    expect(await filesIn(to)).toEqual({ [LONG]: 'long' })
  })

  it('is the same in pieces of any length', async () => {
    const files = { 'a.json': Buffer.from('{}'), 'b/c': Buffer.alloc(700, 'x') }
    const whole = tarOfFiles(files)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3000 }), fc.boolean(), async (length, isPacked) => {
        const to = temporaryFolder()
        await unpackTar(streamOf(isPacked ? gzipSync(whole) : whole, length), to, LIMITS)
        expect(await filesIn(to)).toEqual({ 'a.json': '{}', 'b/c': 'x'.repeat(700) })
      }),
      { numRuns: 20 },
    )
  })

  it.each(['../out', '/tmp/out', 'a/../../out', 'a\\..\\out', 'a//b', '.git/config', ''])('may not hold the path %j', async (path) => {
    await refused(tarOf([{ path, bytes: Buffer.from('x') }]), 'the path of a file')
  })

  it.each(['1', '2', '3', '4', '6', 'L', 'S'])('may not hold an entry of type %s', async (type) => {
    await refused(tarOf([{ path: 'a', type }]), 'regular files')
  })

  it.each([
    ['a path twice', tarOf([{ path: 'a' }, { path: './a' }]), 'there twice'],
    ['a file that is a folder as well', tarOf([{ path: 'a' }, { path: 'a/b' }]), 'there twice'],
    ['a name that no disk takes', extended(`409 path=${'n'.repeat(399)}\n`), 'disk takes'],
    ['five files where four are allowed', tarOf(['a', 'b', 'c', 'd', 'e'].map((path) => ({ path }))), 'at most 4 files'],
    ['no end', tarOfFiles({ a: Buffer.alloc(600) }).subarray(0, 1024), 'ends too early'],
    ['half a file', tarOfFiles({ a: Buffer.alloc(600) }).subarray(0, 700), 'ends too early'],
    ['nothing', Buffer.alloc(0), 'ends too early'],
    ['a header that was changed', Buffer.from(tarOf([{ path: 'a' }]).map((byte, index) => (index === 0 ? 98 : byte))), 'checksum'],
    ['half of its compression', gzipSync(tarOfFiles({ a: Buffer.alloc(600) })).subarray(0, 40), 'compression'],
    ['a size that is no number', tarOf([{ path: 'a', size: 'many' }]), 'no number'],
    ['a size past everything', tarOf([{ path: 'a', size: '\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff' }]), 'too large'],
    ['a size that it does not have', tarOf([{ path: 'a', size: '77777777777' }]), 'ends too early'],
    ['a broken extended header', extended('99 path=b\n'), 'extended header'],
    ['an endless extended header', tarOf([{ path: 'x', type: 'x', size: '77777777777' }, { path: 'a' }]), 'extended header'],
  ])('with %s is refused', async (_, archive, rule) => {
    await refused(archive, rule)
  })

  it('that unpacks to more than it may is broken off, however small it is packed', async () => {
    const bomb = gzipSync(tarOfFiles({ a: Buffer.alloc(8 * 1024 * 1024) }))
    expect(bomb.length).toBeLessThan(16 * 1024)
    await refused(bomb, 'at most 65536 bytes')
  })

  it('that goes on for ever after its end is broken off', async () => {
    const endless = Readable.from(
      (function* () {
        yield tarOf([{ path: 'a' }])
        for (;;) yield Buffer.alloc(1024)
      })(),
    )
    await refused(endless, 'at most')
    expect(endless.destroyed).toBe(true)
  })

  it('whose connection breaks off fails with that error', async () => {
    const broken = Readable.from(
      (function* () {
        yield tarOf([{ path: 'a' }]).subarray(0, 100)
        throw new Error('the connection is gone')
      })(),
    )
    await expect(unpackTar(broken, temporaryFolder(), LIMITS)).rejects.toThrow('the connection is gone')
  })

  it('fails only with a refusal when bytes are changed or cut', async () => {
    const plain = tarOfFiles({ 'a.json': Buffer.from('{}'), 'b/c': Buffer.alloc(700, 'x') })
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.nat(), fc.nat(255), fc.nat(), async (isPacked, at, byte, length) => {
        const whole = isPacked ? gzipSync(plain) : plain
        const bytes = Buffer.from(whole.subarray(0, (length % whole.length) + 1))
        bytes[at % bytes.length] = byte
        await unpackTar(bytes, temporaryFolder(), LIMITS).catch((error: unknown) => expect(isRefusal(error)).toBe(true))
      }),
      { numRuns: 150 },
    )
  })
})
