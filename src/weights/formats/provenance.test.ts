/** The provenance of an adapter, and its digests. */
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { checkAdapter, PROVENANCE, readProvenance, writeProvenance } from './provenance.ts'
import { ORIGIN, refusal, writeAdapter } from './testing.ts'

const BASE = { name: 'tiny', digest: 'abc' }

async function ownAdapter(): Promise<string> {
  const directory = await writeAdapter(temporaryFolder())
  await writeFile(join(directory, 'adapter.gguf'), 'GGUF')
  await writeProvenance(directory, { ...ORIGIN, base_digest: 'abc' })
  return directory
}
const printed = (change: object): string => JSON.stringify({ ...ORIGIN, format: 1, files: {}, ...change })
const textOf = (directory: string): Promise<string> => readFile(join(directory, PROVENANCE), 'utf8')

describe('a provenance', () => {
  it('is read as it was written, with a digest of every file', async () => {
    const written = readProvenance(await textOf(await ownAdapter()))
    expect(written).toMatchObject({ ...ORIGIN, base_digest: 'abc', format: 1 })
    expect(Object.keys(written.files).sort()).toEqual(['adapter.gguf', 'adapter_config.json', 'adapter_model.safetensors'])
  })

  it('is the same bytes for the same adapter, in any order of its members', async () => {
    const [one, other] = [await ownAdapter(), await ownAdapter()]
    const { scenario, ...rest } = ORIGIN
    await writeProvenance(other, { ...rest, scenario, base_digest: 'abc' })
    expect(await textOf(other)).toBe(await textOf(one))
  })

  it('may leave out unknown fields', async () => {
    const directory = await writeAdapter(temporaryFolder())
    await writeProvenance(directory, { ...ORIGIN, step: undefined, probe: null })
    expect(readProvenance(await textOf(directory))).not.toHaveProperty('step')
  })

  it.each([
    ['no JSON', 'no', ''],
    ['another format', '{"format":2}', 'format'],
    ['a number that is none', printed({ optimizer_steps: NaN }), 'optimizer_steps'],
    ['a file outside of the folder', printed({ files: { '../x': 'a'.repeat(64) } }), 'files'],
    ['a probe of two lengths', printed({ probe: { tokens: [1], log_probs: [1] } }), 'every token but'],
  ])('is refused with %s', (_, text, words) => {
    expect(() => readProvenance(text)).toThrow(refusal('bad_adapter', words))
  })
})

describe('an adapter', () => {
  it('is accepted with its provenance when every digest is right', async () => {
    const { adapter, provenance } = await checkAdapter(await ownAdapter(), BASE)
    expect(adapter.baseModel).toBe('tiny')
    expect(provenance?.job).toBe('job-1')
  })

  it('is accepted without provenance when it comes from elsewhere', async () => {
    const { provenance } = await checkAdapter(await writeAdapter(temporaryFolder()), BASE)
    expect(provenance).toBeNull()
  })

  it('is accepted where the engine reports no digest of its base', async () => {
    await expect(checkAdapter(await ownAdapter(), { name: 'tiny', digest: null })).resolves.toMatchObject({ provenance: { job: 'job-1' } })
  })

  it.each<[string, (directory: string) => Promise<void>, string]>([
    ['its adapter_config.json was changed', (folder) => appendFile(join(folder, 'adapter_config.json'), ' '), 'adapter_config.json'],
    ['its adapter.gguf was changed', (folder) => appendFile(join(folder, 'adapter.gguf'), ' '), 'adapter.gguf'],
    ['a file is gone that its provenance names', (folder) => rm(join(folder, 'adapter.gguf')), 'adapter.gguf'],
  ])('is refused when %s', async (_, change, words) => {
    const directory = await ownAdapter()
    await change(directory)
    await expect(checkAdapter(directory, BASE)).rejects.toEqual(refusal('bad_adapter', words))
  })

  it('is refused when a file was added that its provenance does not name', async () => {
    const directory = await writeAdapter(temporaryFolder())
    await writeProvenance(directory, ORIGIN)
    await writeFile(join(directory, 'adapter.gguf'), 'GGUF')
    await expect(checkAdapter(directory, BASE)).rejects.toEqual(refusal('bad_adapter', 'adapter.gguf'))
  })

  it.each([
    ['another name', { name: 'other', digest: null }, 'base_model_name_or_path'],
    ['another digest', { name: 'tiny', digest: 'def' }, 'base_digest'],
  ])('is refused on a base of %s', async (_, base, words) => {
    await expect(checkAdapter(await ownAdapter(), base)).rejects.toEqual(refusal('bad_adapter', words))
  })

  it('is refused when its provenance names another base than its settings', async () => {
    const directory = await writeAdapter(temporaryFolder())
    await writeProvenance(directory, { ...ORIGIN, base_model: 'other' })
    await expect(checkAdapter(directory, BASE)).rejects.toEqual(refusal('bad_adapter', 'base_model of'))
  })
})
