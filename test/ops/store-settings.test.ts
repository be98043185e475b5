import { expect, it, onTestFinished } from 'vitest'
import { loadConfig, readCommandLine } from '../../src/config/index.ts'
import type { JsonObject } from '../../src/contract/index.ts'
import { loaderOf } from '../../src/compose/index.ts'
import { openStore } from '../../src/main.ts'
import memory from '../../plugins/stores/memory/index.ts'
import { temporaryFolder } from '../support/folder.ts'

it('a store gets its own settings, and none of them replaces what every store gets', async () => {
  const before = process.cwd()
  process.chdir(temporaryFolder())
  onTestFinished(() => process.chdir(before))
  const given: JsonObject[] = []
  const args = ['--storage.record_settings.connections', '3', '--storage.record_settings.directory', 'x']
  const loaded = await loadConfig({
    commandLine: readCommandLine([...args, '--storage.record_database_url', 'postgres://host/db', '--inference.runtime', 'practice']),
    environment: {},
  })
  const make = (config: JsonObject) => (given.push(config), memory.plugin.make({}))
  const builtins = { store: { sqlite: async () => ({ default: { ...memory, plugin: { make } } }) } }
  const store = await openStore(loaded, loaderOf(loaded, builtins))
  await store.close()
  const { agent_record_dir: directory, record_capacity_bytes: capacity_bytes } = loaded.config.storage
  expect(given).toEqual([{ connections: 3, directory, capacity_bytes, url: 'postgres://host/db' }])
})
