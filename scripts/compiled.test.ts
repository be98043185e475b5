/** Where compiled code is kept between starts: what lies there is run, so only in folders that nobody else can write to. */
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { compiledFolder } from '../bin/compiled.mjs'
import { temporaryFolder } from '../test/support/folder.ts'

/** No folder can be made below a file. */
const NOWHERE = '/dev/null'

it('is kept in the package, for its owner alone', () => {
  const root = temporaryFolder()
  const folder = compiledFolder(root, { HOME: NOWHERE })
  expect(folder).toBe(join(root, 'node_modules/.cache/svc-compiled'))
  expect(statSync(folder ?? '').mode & 0o777).toBe(0o700)
})

it("is kept in the user's cache where the package cannot be written to", () => {
  const home = temporaryFolder()
  expect(compiledFolder(NOWHERE, { HOME: home })).toBe(join(home, '.cache/svc/compiled'))
  expect(compiledFolder(NOWHERE, { HOME: NOWHERE, XDG_CACHE_HOME: join(home, 'other') })).toBe(join(home, 'other/svc/compiled'))
})

it('is kept nowhere where neither can be written to', () => {
  expect(compiledFolder(NOWHERE, { HOME: NOWHERE })).toBeNull()
})

it('is kept nowhere where others could write', () => {
  const root = temporaryFolder()
  const folder = join(root, 'node_modules/.cache/svc-compiled')
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o777)
  expect(compiledFolder(root, { HOME: NOWHERE })).toBeNull()
  expect(existsSync(folder)).toBe(true)
})
