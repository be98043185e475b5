/** The prefix of a service's adapters in an engine: made once, the same after every start, and another one for every service. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { adapterPrefix } from '../../src/compose/adapter-prefix.ts'
import { temporaryFolder } from '../support/folder.ts'
import { loadArguments } from '../support/settings.ts'

async function prefixIn(folder: string, ...more: readonly string[]): Promise<string> {
  return adapterPrefix(await loadArguments(['--storage.agent_record_dir', folder, ...more]))
}

it('is made once, also by threads that start at once, and kept beside the records', async () => {
  const folder = join(temporaryFolder(), 'records')
  const [first, ...others] = await Promise.all([prefixIn(folder), prefixIn(folder), prefixIn(folder)])
  expect(first).toMatch(/^svc-[0-9a-f]{8}$/)
  expect([...others, await prefixIn(folder)]).toEqual([first, first, first])
  expect(readdirSync(folder)).toEqual(['adapter-prefix'])
  expect(await prefixIn(temporaryFolder())).not.toBe(first)
})

it('is what the operator says', async () => {
  const folder = temporaryFolder()
  expect(await prefixIn(folder, '--inference.engine.adapter_prefix', 'shop')).toBe('shop')
  expect(readdirSync(folder)).toEqual([])
})

it('is not guessed where its file is damaged', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'adapter-prefix'), '')
  await expect(prefixIn(folder)).rejects.toMatchObject({ code: 'bad_setting', message: expect.stringContaining('remove it') })
})
