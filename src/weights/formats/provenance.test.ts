/** What is known of an adapter, and that it is still the one it is known of. */
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { checkAdapter, PROVENANCE, readProvenance, writeProvenance } from './provenance.ts'
import { ORIGIN, writeAdapter } from './testing.ts'

const BASE = { name: 'tiny', digest: 'abc' }

async function ownAdapter(): Promise<string> {
  const directory = await writeAdapter(temporaryFolder())
  await writeFile(join(directory, 'adapter.gguf'), 'GGUF')
  await writeProvenance(directory, { ...ORIGIN, base_digest: 'abc' })
  return directory
}
const textOf = (directory: string): Promise<string> => readFile(join(directory, PROVENANCE), 'utf8')

describe('a provenance', () => {
  it('comes back as it was written, with a digest of every file', async () => {
    const written = readProvenance(await textOf(await ownAdapter()))
    expect(written).toMatchObject({ ...ORIGIN, base_digest: 'abc', format: 1 })
    expect(Object.keys(written.files).sort()).toEqual(['adapter.gguf', 'adapter_config.json', 'adapter_model.safetensors'])
  })

  it('is the same bytes for the same adapter, whatever order its members were given in', async () => {
    const [one, other] = [await ownAdapter(), await ownAdapter()]
    const { scenario, ...rest } = ORIGIN
    await writeProvenance(other, { ...rest, scenario, base_digest: 'abc' })
    expect(await textOf(other)).toBe(await textOf(one))
  })

  it('may leave out what is not known', async () => {
    const directory = await writeAdapter(temporaryFolder())
    await writeProvenance(directory, { ...ORIGIN, step: undefined, probe: null })
    expect(readProvenance(await textOf(directory))).not.toHaveProperty('step')
  })

  it.each([
    ['no JSON', 'no', ''],
    ['another format', '{"format":2}', 'format'],
    ['a number that is none', JSON.stringify({ ...ORIGIN, format: 1, files: {}, optimizer_steps: NaN }), 'optimizer_steps'],
    ['a file outside of the folder', JSON.stringify({ ...ORIGIN, format: 1, files: { '../x': 'a'.repeat(64) } }), 'files'],
    [
      'a probe of two lengths',
      JSON.stringify({ ...ORIGIN, format: 1, files: {}, probe: { tokens: [1], log_probs: [1] } }),
      'every token but',
    ],
  ])('is refused with %s', (_, text, words) => {
    expect(() => readProvenance(text)).toThrow(expect.objectContaining({ code: 'bad_adapter', message: expect.stringContaining(words) }))
  })
})

describe('an adapter', () => {
  it('is taken with its provenance when every digest is right', async () => {
    const { adapter, provenance } = await checkAdapter(await ownAdapter(), BASE)
    expect(adapter.baseModel).toBe('tiny')
    expect(provenance?.job).toBe('job-1')
  })

  it('is taken from elsewhere without any', async () => {
    const { provenance } = await checkAdapter(await writeAdapter(temporaryFolder()), BASE)
    expect(provenance).toBeNull()
  })

  it('is taken where the engine cannot tell its base apart', async () => {
    await expect(checkAdapter(await ownAdapter(), { name: 'tiny', digest: null })).resolves.toMatchObject({ provenance: { job: 'job-1' } })
  })

  it.each(['adapter_config.json', 'adapter.gguf'])('is refused when its %s was changed', async (name) => {
    const directory = await ownAdapter()
    await appendFile(join(directory, name), ' ')
    await expect(checkAdapter(directory, BASE)).rejects.toMatchObject({ code: 'bad_adapter', message: expect.stringContaining(name) })
  })

  it('is refused when a file is gone that its provenance names', async () => {
    const directory = await ownAdapter()
    await rm(join(directory, 'adapter.gguf'))
    await expect(checkAdapter(directory, BASE)).rejects.toMatchObject({
      code: 'bad_adapter',
      message: expect.stringContaining('adapter.gguf'),
    })
  })

  it('is refused when a file was added that its provenance does not name', async () => {
    const directory = await writeAdapter(temporaryFolder())
    await writeProvenance(directory, ORIGIN)
    await writeFile(join(directory, 'adapter.gguf'), 'GGUF')
    await expect(checkAdapter(directory, BASE)).rejects.toMatchObject({
      code: 'bad_adapter',
      message: expect.stringContaining('adapter.gguf'),
    })
  })

  it.each([
    ['another name', { name: 'other', digest: null }, 'base_model_name_or_path'],
    ['another digest', { name: 'tiny', digest: 'def' }, 'base_digest'],
  ])('is refused on a base of %s', async (_, base, words) => {
    await expect(checkAdapter(await ownAdapter(), base)).rejects.toMatchObject({
      code: 'bad_adapter',
      message: expect.stringContaining(words),
    })
  })

  it('is refused when its provenance speaks of another base than its settings', async () => {
    const directory = await writeAdapter(temporaryFolder())
    await writeProvenance(directory, { ...ORIGIN, base_model: 'other' })
    await expect(checkAdapter(directory, BASE)).rejects.toMatchObject({
      code: 'bad_adapter',
      message: expect.stringContaining('base_model of'),
    })
  })
})
