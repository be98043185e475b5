import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { ENV, LLAMA_PACKAGE } from '../../../src/contract/index.ts'
import { openLlamaEngine } from './engine.ts'
import { readSettings } from './settings.ts'

it('a model is all that must be set', () => {
  expect(readSettings({ model: '/models/small.gguf', timeout_s: 300 })).toEqual({
    model: '/models/small.gguf',
    capacity: 4,
    parallel: 4,
    contextTokens: null,
    threads: null,
    gpu: 'off',
  })
})

it.each([
  ['no model', {}, 'model'],
  ['an unknown key', { model: 'm', url: 'http://127.0.0.1' }, 'url'],
  ['no capacity', { model: 'm', capacity: 0 }, 'capacity'],
  ['half a thread', { model: 'm', threads: 0.5 }, 'threads'],
  ['a graphics card by name', { model: 'm', gpu: 'cuda' }, 'gpu'],
])('%s is refused by the name of the setting', (_, config, name) => {
  expect(() => readSettings(config)).toThrow(name)
})

it('without its library the engine says how to install it', async () => {
  process.env[ENV.runtimes] = temporaryFolder()
  await expect(openLlamaEngine(readSettings({ model: 'm' }))).rejects.toMatchObject({
    kind: 'unavailable',
    code: 'runtime_not_installed',
    message: expect.stringContaining('svc runtime add llama'),
  })
})

it('the lock pins the version that is looked for, names no registry, and has a binary for every usual machine', () => {
  const lock = readFileSync(new URL('./package-lock.json', import.meta.url), 'utf8')
  const { packages }: { packages: Record<string, { version?: string }> } = JSON.parse(lock)
  expect(packages[`node_modules/${LLAMA_PACKAGE.name}`]?.version).toBe(LLAMA_PACKAGE.version)
  expect(lock).not.toContain('resolved')
})
