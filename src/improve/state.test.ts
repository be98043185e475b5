/** The folder of a run: kept whole, held by one process, lost by none that is killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { openState } from './state.ts'

it('keeps what was written, outside of the repository and for its owner alone; a damaged file counts as none', async () => {
  const [repository, data] = [temporaryFolder(), temporaryFolder()]
  const state = await openState(repository, { XDG_DATA_HOME: data })
  expect(state.folder.startsWith(join(data, 'svc/improve/'))).toBe(true)
  expect(statSync(state.folder).mode & 0o777).toBe(0o700)
  expect(await state.read('one')).toBeNull()
  await state.write('one/two', { a: 1 })
  expect(await state.read('one/two')).toEqual({ a: 1 })
  writeFileSync(join(state.folder, 'run/bad.json'), '{"a":')
  expect(await state.read('bad')).toBeNull()
  await state.clear()
  expect(await state.read('one/two')).toBeNull()
  state.close()
})

it('says where it cannot be kept, also where its folder is there and no lock can be written', async () => {
  const [repository, data] = [temporaryFolder(), temporaryFolder()]
  const state = await openState(repository, { XDG_DATA_HOME: data })
  state.close()
  rmSync(join(state.folder, 'lock.db'))
  mkdirSync(join(state.folder, 'lock.db'))
  await expect(openState(repository, { XDG_DATA_HOME: data })).rejects.toMatchObject({
    code: 'no_state',
    message: expect.stringContaining('set XDG_DATA_HOME to a folder of yours'),
  })
})

it('is one per repository, whatever its name, and from wherever it is named', async () => {
  const [top, data] = [temporaryFolder(), { XDG_DATA_HOME: temporaryFolder() }]
  const names = [`a 'b"`, 'c\nd', 'e']
  const folders = new Set<string>()
  for (const name of names) {
    mkdirSync(join(top, name))
    const state = await openState(join(top, name), data)
    folders.add(state.folder)
    state.close()
  }
  expect(folders.size).toBe(names.length)
  const [first, again] = [await openState(join(top, 'e'), data), `${top}/./e/../e`]
  first.close()
  const second = await openState(again, data)
  expect(second.folder).toBe(first.folder)
  second.close()
})

const HOLDER = new URL('state.ts', import.meta.url).href

it('is held by one process at a time, and free once that one is killed', async () => {
  const [repository, data] = [temporaryFolder(), temporaryFolder()]
  const code = `const { openState } = await import(${JSON.stringify(HOLDER)}); await openState(${JSON.stringify(repository)}, { XDG_DATA_HOME: ${JSON.stringify(data)} }); console.log('held'); setInterval(() => {}, 1000)`
  const other = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(other.stdout, 'data')
  await expect(openState(repository, { XDG_DATA_HOME: data })).rejects.toThrow('another svc improve works on this repository')
  other.kill('SIGKILL')
  await once(other, 'close')
  const state = await openState(repository, { XDG_DATA_HOME: data })
  await expect(openState(repository, { XDG_DATA_HOME: data })).rejects.toThrow('another svc improve')
  state.close()
})

it('without a place to keep it says what to set', async () => {
  await expect(openState(temporaryFolder(), {})).rejects.toThrow('set XDG_DATA_HOME')
  const file = join(temporaryFolder(), 'file')
  writeFileSync(file, '')
  await expect(openState(temporaryFolder(), { XDG_DATA_HOME: file })).rejects.toThrow(/cannot be kept in .*; set XDG_DATA_HOME/)
})
