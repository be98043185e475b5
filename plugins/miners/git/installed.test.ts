/** What counts as installed in a checkout, among folders that only look like it. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { installedBelow } from './installed.ts'

function environmentIn(top: string, name: string, python: string): void {
  mkdirSync(join(top, name, 'bin'), { recursive: true })
  writeFileSync(join(top, name, 'pyvenv.cfg'), 'home = /usr/bin\n')
  symlinkSync(python, join(top, name, 'bin/python3'))
}

it('leaves out environments whose Python is gone, links, and what has a path that no task can name', async () => {
  const [top, elsewhere] = [temporaryFolder(), temporaryFolder()]
  mkdirSync(join(top, 'node_modules'))
  mkdirSync(join(elsewhere, 'node_modules'))
  mkdirSync(join(top, 'packages/one'), { recursive: true })
  symlinkSync(join(elsewhere, 'node_modules'), join(top, 'packages/one/node_modules'))
  environmentIn(top, `it's "my" env`, process.execPath)
  environmentIn(top, 'two\nlines', process.execPath)
  environmentIn(top, 'back\\slash', process.execPath)
  environmentIn(top, '.venv', '/nowhere/python3')
  expect(Object.keys(await installedBelow(top)).toSorted()).toEqual([`it's "my" env`, 'node_modules'])
})

it('finds nothing in a folder whose name no task can hold', async () => {
  const top = join(temporaryFolder(), 'two\nlines')
  mkdirSync(join(top, 'node_modules'), { recursive: true })
  expect(await installedBelow(top)).toEqual({})
})
