/** Which program opens an address. It is given the address as one argument, whatever is in it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { until } from '../../test/support/wait.ts'
import { browse } from './browser.ts'

const URL = 'http://127.0.0.1:8900/console#/s/$(touch%20x);%20y/traffic'

test('the browser of the environment gets the address, and no shell reads it', async () => {
  const folder = temporaryFolder()
  const [program, out] = [join(folder, 'browser'), join(folder, 'opened')]
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > '${out}.new' && mv '${out}.new' '${out}'\n`, { mode: 0o755 })
  expect(await browse(URL, { BROWSER: program, PATH: [folder, process.env['PATH']].join(delimiter) })).toBe(true)
  await until(() => {
    try {
      return readFileSync(out, 'utf8') === `1\n${URL}\n`
    } catch {
      return false
    }
  })
})

test.each<readonly [string, Readonly<Record<string, string>>]>([
  ['no screen', {}],
  ['a program that is not there', { BROWSER: '/nowhere/browser' }],
])('with %s nothing is opened', async (_what, environment) => {
  expect(await browse(URL, environment, 'linux')).toBe(false)
})
