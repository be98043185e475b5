import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { entriesBelow } from './entries-below.ts'

const pathsBelow = async (folder: string): Promise<readonly string[]> =>
  (await entriesBelow(folder)).map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort()

it('lists what lies below a folder, and follows no link', async () => {
  const [folder, outside] = [temporaryFolder(), temporaryFolder()]
  await writeFile(join(outside, 'secret'), '')
  await mkdir(join(folder, 'a', 'b'), { recursive: true })
  await writeFile(join(folder, 'a', 'b', 'c'), '')
  await symlink(outside, join(folder, 'a', 'away'))
  await symlink(folder, join(folder, 'a', 'round'))
  await symlink('nowhere', join(folder, 'broken'))
  expect(await pathsBelow(folder)).toEqual(['a', 'a/away', 'a/b', 'a/b/c', 'a/round', 'broken'])
})

it('lists nothing of a folder that is missing, or that is a file', async () => {
  const folder = temporaryFolder()
  await writeFile(join(folder, 'file'), '')
  expect(await pathsBelow(join(folder, 'missing'))).toEqual([])
  expect(await pathsBelow(join(folder, 'file'))).toEqual([])
})
