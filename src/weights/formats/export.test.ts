/** Exports: whole or not there, whatever happens in between. */
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { mountDisk, fillDisk, temporaryFolder } from '../../../test/support/folder.ts'
import { buildExport, type ExportOrder } from './export.ts'
import { checkAdapter } from './provenance.ts'
import { adapterFiles, ORIGIN, SHAPE, tarOfFiles, type AdapterFault } from './testing.ts'

/** Every call of the file system counts; from the one with this number on, the machine is dead. */
const power = { calls: 0, until: Infinity }
const WATCHED = ['mkdir', 'open', 'readdir', 'rename', 'rm', 'writeFile'] as const
const real = { ...fs }

beforeAll(() => {
  for (const name of WATCHED) {
    const call = real[name]
    Reflect.set(fs, name, (...given: unknown[]): unknown => {
      if (++power.calls > power.until) return Promise.reject(new Error('the power is off'))
      return Reflect.apply(call, fs, given)
    })
  }
  syncBuiltinESMExports()
})
afterEach(() => {
  power.until = Infinity
})
afterAll(() => {
  for (const name of WATCHED) Reflect.set(fs, name, real[name])
  syncBuiltinESMExports()
})

const BASE = { name: 'tiny', digest: null }
const archiveOf = (fault?: AdapterFault): Buffer => tarOfFiles({ ...adapterFiles(fault), 'optimizer.pt': Buffer.from('not ours') })
const orderIn = (folder: string, more: Partial<ExportOrder> = {}): ExportOrder => ({
  archive: archiveOf(),
  directory: join(folder, 'exports/job-1'),
  shape: SHAPE,
  provenance: ORIGIN,
  ...more,
})
async function built(order: ExportOrder): Promise<Readonly<Record<string, string>>> {
  await buildExport(order)
  const names = (await fs.readdir(order.directory)).sort()
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await fs.readFile(join(order.directory, name), 'latin1')])))
}
const ALL = ['adapter.gguf', 'adapter_config.json', 'adapter_model.safetensors', 'svc-provenance.json']

describe('an export', () => {
  it('holds the adapter, its GGUF and its provenance, and nothing else of the archive', async () => {
    const order = orderIn(temporaryFolder())
    expect(Object.keys(await built(order))).toEqual(ALL)
    expect((await checkAdapter(order.directory, BASE)).provenance?.job).toBe('job-1')
    expect(await fs.readdir(join(order.directory, '..'))).toEqual(['job-1'])
  })

  it('is the same files from the same archive anywhere, packed or not', async () => {
    const other = await built(orderIn(temporaryFolder(), { archive: Readable.from([gzipSync(archiveOf())]) }))
    expect(other).toEqual(await built(orderIn(temporaryFolder())))
  })

  it('has no GGUF where none is needed', async () => {
    expect(Object.keys(await built(orderIn(temporaryFolder(), { shape: null })))).toEqual(ALL.slice(1))
  })

  it('that exists is left as it is, without reading the archive', async () => {
    const folder = temporaryFolder()
    const first = await built(orderIn(folder))
    const archive = new PassThrough()
    expect(await built(orderIn(folder, { archive }))).toEqual(first)
    expect(archive.destroyed).toBe(true)
  })

  it('that was damaged is made again', async () => {
    const order = orderIn(temporaryFolder())
    const first = await built(order)
    await fs.appendFile(join(order.directory, 'adapter.gguf'), 'x')
    expect(await built(order)).toEqual(first)
    expect(await fs.readdir(join(order.directory, '..'))).toEqual(['job-1'])
  })

  it('is made once by concurrent calls', async () => {
    const folder = temporaryFolder()
    const all = await Promise.all(Array.from({ length: 5 }, () => built(orderIn(folder))))
    expect(new Set(all.map((files) => JSON.stringify(files))).size).toBe(1)
    await checkAdapter(join(folder, 'exports/job-1'), BASE)
    expect(await fs.readdir(join(folder, 'exports'))).toEqual(['job-1'])
  })

  it.each<[string, Partial<ExportOrder>]>([
    ['an archive without an adapter', { archive: tarOfFiles({ a: Buffer.from('x') }) }],
    ['half an archive', { archive: archiveOf().subarray(0, 900) }],
    ['an adapter of another base', { archive: archiveOf({ config: { base_model_name_or_path: 'other' } }) }],
    ['an adapter with DoRA', { archive: archiveOf({ config: { use_dora: true } }) }],
    ['a base that llama.cpp is not known for', { shape: { ...SHAPE, architecture: 'other' } }],
    ['an invalid origin', { provenance: { ...ORIGIN, job: '' } }],
  ])('is refused with %s, and leaves nothing', async (_, more) => {
    const folder = temporaryFolder()
    await expect(buildExport(orderIn(folder, more))).rejects.toMatchObject({ name: 'Refusal' })
    expect(await fs.readdir(join(folder, 'exports'))).toEqual([])
  })

  it('whose archive breaks off before it is read fails with that error', async () => {
    const archive = new PassThrough()
    archive.destroy(new Error('the connection is gone'))
    await expect(buildExport(orderIn(temporaryFolder(), { archive }))).rejects.toThrow('the connection is gone')
  })

  it('is whole or not there when the machine dies at any call, and made by the next call', async () => {
    const expected = await built(orderIn(temporaryFolder()))
    power.calls = 0
    await buildExport(orderIn(temporaryFolder()))
    const calls = power.calls
    expect(calls).toBeGreaterThan(20)
    for (let until = 0; until < calls; until++) {
      const folder = temporaryFolder()
      Object.assign(power, { calls: 0, until })
      await expect(buildExport(orderIn(folder)), `at call ${until}`).rejects.toThrow('the power is off')
      power.until = Infinity
      const isThere = await fs.stat(join(folder, 'exports/job-1')).then(
        () => true,
        () => false,
      )
      if (isThere) await checkAdapter(join(folder, 'exports/job-1'), BASE)
      expect(await built(orderIn(folder))).toEqual(expected)
      expect(await fs.readdir(join(folder, 'exports'))).toEqual(['job-1'])
    }
  })

  it('on a full disk fails with that reason, and is made when there is room again', async () => {
    const disk = mountDisk('size=256k')
    await fs.mkdir(join(disk, 'exports'))
    const free = fillDisk(disk)
    await expect(buildExport(orderIn(disk))).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'export_failed',
      message: expect.stringMatching(/^the disk .* is full.*ENOSPC/),
    })
    expect(await fs.readdir(join(disk, 'exports'))).toEqual([])
    free()
    await buildExport(orderIn(disk))
    await checkAdapter(orderIn(disk).directory, BASE)
  })
})
