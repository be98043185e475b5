import { expect, test } from 'vitest'
import { readCommandLine, loadConfig } from '../../config/index.ts'
import { withPractice } from './index.ts'

async function practising(args: readonly string[], environment: Readonly<Record<string, string>> = {}, config?: string) {
  const commandLine = readCommandLine(args)
  const plain = await loadConfig({ commandLine, environment, probe: () => Promise.resolve(null) })
  return withPractice(plain, { commandLine, ...(config !== undefined && { config }) }, environment)
}

test('while the practice model answers there is a recipe that improves, and scenarios that name none are recorded as before', async () => {
  const loaded = await practising(['--svc.port', '0', '--storage.record_backend', 'memory'])
  expect(loaded?.config).toMatchObject({
    svc: { port: 0 },
    storage: { record_backend: 'memory' },
    recipe: 'record-only',
    recipes: { 'record-only': { use: 'record-only' }, practice: { use: 'harness', evolution: { adapter: 'native' } } },
  })
})

test('it says how the model was found, and plug-ins are looked for where the person is', async () => {
  const loaded = await practising([])
  expect(loaded?.upstream).toMatchObject({ runtime: 'practice', found: 'no upstream is set or found' })
  expect(loaded?.baseDirectory).toBe(process.cwd())
})

test('no code can get into what it serves where nothing keeps code apart: no executor is forced, and the seed is words alone', async () => {
  const { executor, seed } = (await practising([]))?.config.recipes['practice']?.evolution ?? {}
  expect(executor).toBeNull()
  expect(seed?.map(({ name }) => name)).toEqual(['rules'])
})

test.each<readonly [string, readonly string[], Readonly<Record<string, string>>, string | undefined]>([
  ['another model answers', [], { OPENAI_API_KEY: 'k' }, undefined],
  ['an upstream is set', ['--inference.upstream_url', 'http://127.0.0.1:9'], {}, undefined],
  ['a configuration file is given', [], {}, 'svc.yaml'],
  ['the one recipe is configured by options', ['--recipe', 'harness', '--evolution.adapter', 'pi'], {}, undefined],
])('there is none where %s', async (_where, args, environment, config) => {
  expect(await practising(args, environment, config)).toBeNull()
})

test('another default recipe stays the default', async () => {
  expect((await practising(['--recipe', 'harness']))?.config).toMatchObject({
    recipe: 'harness',
    recipes: { practice: { use: 'harness' } },
  })
})
