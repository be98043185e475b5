import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeHome } from './testing/harness-home.ts'
import { launcherText } from './launcher.ts'

const ECHO = 'process.stdout.write(JSON.stringify(process.argv.slice(2)))\n'

test.each([
  ['the Node it was installed with', process.execPath],
  ['the Node on PATH when that one is gone', "/nowhere/it's/node"],
])('starts the wrapper on %s, from any folder, with every argument as it was given', (_case, node) => {
  const { path, env } = makeHome()
  const folder = join(path, `it's $HOME "quoted" \`id\`\n`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'wrapper.mjs'), ECHO)
  const launcher = join(folder, 'svc-agent')
  writeFileSync(launcher, launcherText(folder, node, 'agent'))
  chmodSync(launcher, 0o755)
  const said = execFileSync(launcher, ['-p', "it's", '', '$(x)'], { env, encoding: 'utf8' })
  expect(JSON.parse(said)).toEqual([folder, '-p', "it's", '', '$(x)'])
  symlinkSync(launcher, join(path, 'svc-agent'))
  const byLink = execFileSync(join(path, 'svc-agent'), ['-p'], { env, encoding: 'utf8' })
  expect(JSON.parse(byLink)).toEqual(['--any', 'agent', folder, '-p'])
})
