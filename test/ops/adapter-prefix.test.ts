/** The prefix of a service's adapters in an engine: made once, the same after every start, and another one for every service. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import memory from '../../plugins/stores/memory/index.ts'
import type { Store } from '../../src/contract/index.ts'
import { adapterPrefix, holdAdapterNames } from '../../src/compose/adapter-prefix.ts'
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

it('is another one for each gateway of a deployment, which have one configuration', async () => {
  const shared = [
    '--inference.engine.adapter_prefix',
    'shop',
    '--storage.record_backend',
    'postgres',
    '--storage.record_database_url',
    'postgres://db/svc',
  ]
  const folders = [temporaryFolder(), temporaryFolder()]
  const [first = '', second] = await Promise.all(folders.map((folder) => prefixIn(folder, ...shared)))
  expect([first, second]).toEqual([expect.stringMatching(/^shop-[0-9a-f]{8}$/), expect.stringMatching(/^shop-[0-9a-f]{8}$/)])
  expect(second).not.toBe(first)
  expect(await prefixIn(folders[0] ?? '', ...shared)).toBe(first)
})

it('is one gateway’s alone: another one that has the same folder does not start, and does once the first is gone', async () => {
  const store: Store = await memory.plugin.make({})
  const first = await store.lease('engine-names:shop-1')
  await expect(holdAdapterNames(store, 'shop-1', 0)).rejects.toMatchObject({
    code: 'bad_setting',
    message: expect.stringContaining('a storage.agent_record_dir of its own'),
  })
  await holdAdapterNames(store, 'shop-2', 0)
  const waiting = holdAdapterNames(store, 'shop-1')
  await first?.release()
  await waiting
  expect(await store.lease('engine-names:shop-1')).toBeNull()
})

it('is not guessed where its file is damaged', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'adapter-prefix'), '')
  await expect(prefixIn(folder)).rejects.toMatchObject({ code: 'bad_setting', message: expect.stringContaining('remove it') })
})
