import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sharedFolder } from '../../test/support/folder.ts'
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

test.each([
  ['127.0.0.1', 'http://127.0.0.1:1234'],
  ['localhost', 'http://localhost:1234'],
  ['0.0.0.0', 'http://127.0.0.1:1234'],
  ['::', 'http://[::1]:1234'],
  ['10.0.0.7', 'http://10.0.0.7:1234'],
])('bound to %s, episodes call back at %s', async (host, url) => {
  const { config } = await loadConfig({ environment: { SVC_TOKEN: 't' }, commandLine: readCommandLine(['--svc.host', host]), probe })
  expect(servedUrl(config, 1234)).toBe(url)
})

test('served_url wins over the bind address', async () => {
  const { config } = await loadConfig({ environment: {}, commandLine: readCommandLine(['--svc.served_url', 'http://front/']), probe })
  expect(servedUrl(config, 1234)).toBe('http://front')
})
