import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sharedFolder, temporaryFolder } from '../../test/support/folder.ts'
import { importFolders, openStore } from '../main.ts'
import { servedUrl } from './checks.ts'
import { readCommandLine } from './command-line.ts'
import { loadConfig } from './load.ts'

const folder = sharedFolder()
const file = join(folder, 'svc.yaml')
const probe = () => Promise.resolve(null)

test('a file is read, and plug-in paths start from its folder [config.file]', async () => {
  writeFileSync(file, '\uFEFFsvc:\r\n  port: 9001\r\n')
  const loaded = await loadConfig({ file, environment: {}, probe })
  expect(loaded.config.svc.port).toBe(9001)
  expect(loaded.origins.get('svc.port')).toBe('file:2')
  expect(loaded.baseDirectory).toBe(folder)
  expect(loaded.upstream.runtime).toBe('practice')
})

test('without a file everything is a default', async () => {
  const loaded = await loadConfig({ environment: {}, probe })
  expect(loaded.config.svc.port).toBe(8900)
  expect(loaded.baseDirectory).toBe(process.cwd())
})

test('a file that is not there is a problem of its own', async () => {
  await expect(loadConfig({ file: 'absent.yaml', environment: {}, probe })).rejects.toThrow(
    'absent.yaml: there is no such file; name the configuration with -c FILE',
  )
  await expect(loadConfig({ file: folder, environment: {}, probe })).rejects.toThrow('the file cannot be read (EISDIR)')
})

/** Runs the rest of the test in another folder, whose name has a space in it. */
function elsewhere(): string {
  const before = process.cwd()
  const working = join(realpathSync(temporaryFolder()), 'a folder')
  mkdirSync(working)
  process.chdir(working)
  onTestFinished(() => process.chdir(before))
  return working
}

test('paths are whole: those of the file and by default from its folder, those of the command line from the working directory', async () => {
  const place = join(temporaryFolder(), 'a place')
  mkdirSync(place)
  const path = join(place, 'svc.yaml')
  writeFileSync(
    path,
    'recipe: a\nrecipes:\n  a:\n    use: harness\n    evolution: {binary: bin/agent, tasks_dir: tasks, evaluator_module: ./score.mjs, step_record_dir: null}\n',
  )
  const working = elsewhere()
  const commandLine = readCommandLine(['--storage.artifact_repository', 'own.git', '--recipes.a.evolution.proposals_dir', '../inbox'])
  const { config, moved } = await loadConfig({ file: path, commandLine, environment: {}, probe })
  expect(config.storage).toMatchObject({
    agent_record_dir: join(place, '.svc/agent-record'),
    artifact_repository: join(working, 'own.git'),
  })
  expect(config.recipes['a']?.evolution).toMatchObject({
    binary: join(place, 'bin/agent'),
    tasks_dir: join(place, 'tasks'),
    evaluator_module: join(place, 'score.mjs'),
    step_record_dir: null,
    proposals_dir: join(working, '../inbox'),
  })
  expect(moved).toEqual([])
})

test('without a file paths start from the working directory; what is no path stays as it is', async () => {
  const working = elsewhere()
  const text = [
    '--storage.artifact_repository',
    'git@host:releases.git',
    '--evolution.binary',
    'codex',
    '--inference.engine.model',
    'Qwen/Qwen3-8B',
  ]
  const { config } = await loadConfig({
    commandLine: readCommandLine([...text, '--evolution.evaluator_module', 'scores']),
    environment: {},
    probe,
  })
  expect(config.storage).toMatchObject({
    agent_record_dir: join(working, '.svc/agent-record'),
    artifact_repository: 'git@host:releases.git',
  })
  expect(config.inference.engine.model).toBe('Qwen/Qwen3-8B')
  expect(config.recipes['record-only']?.evolution).toMatchObject({ binary: 'codex', evaluator_module: 'scores' })
})

test('data in the working directory instead of the folder of the file is reported with what to move, and not ignored', async () => {
  const place = temporaryFolder()
  const path = join(place, 'svc.yaml')
  writeFileSync(path, '')
  const working = elsewhere()
  mkdirSync(join(working, '.svc/agent-record'), { recursive: true })
  const loaded = await loadConfig({ file: path, environment: {}, probe })
  expect(loaded.moved).toEqual([
    expect.stringContaining(
      `move ${join(working, '.svc/agent-record')} to ${join(place, '.svc/agent-record')}, or set storage.agent_record_dir`,
    ),
  ])
  const wish = { records: join(place, 'original'), artifacts: null, renames: new Map(), recipe: null, isTrial: false }
  for (const open of [() => openStore(loaded), () => importFolders(loaded, wish, () => undefined)])
    await expect(open()).rejects.toThrow('starts from the folder of the configuration file')
  mkdirSync(join(place, '.svc/agent-record'), { recursive: true })
  expect((await loadConfig({ file: path, environment: {}, probe })).moved).toEqual([])
})

test.each([
  ['127.0.0.1', 'http://127.0.0.1:1234'],
  ['localhost', 'http://localhost:1234'],
  ['0.0.0.0', 'http://127.0.0.1:1234'],
  ['::', 'http://[::1]:1234'],
  ['10.0.0.7', 'http://10.0.0.7:1234'],
])('bound to %s, episodes call back at %s', async (host, url) => {
  const { config } = await loadConfig({
    environment: { SVC_TOKEN: 'b1946ac92492d2347c6235b4' },
    commandLine: readCommandLine(['--svc.host', host]),
    probe,
  })
  expect(servedUrl(config, 1234)).toBe(url)
})

test('served_url wins over the bind address', async () => {
  const { config } = await loadConfig({ environment: {}, commandLine: readCommandLine(['--svc.served_url', 'http://front/']), probe })
  expect(servedUrl(config, 1234)).toBe('http://front')
})
