import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { mkdirp, mkdirpSync, type FolderMode } from './folders.ts'

const WAYS = [
  ['mkdirp', mkdirp],
  ['mkdirpSync', async (path: string, options?: FolderMode) => mkdirpSync(path, options)],
] as const

describe.each(WAYS)('%s', (_name, make) => {
  it('makes a folder with its parents, and says which was the first', async () => {
    const folder = temporaryFolder()
    expect(await make(join(folder, 'a/b/c'), { mode: 0o700 })).toBe(join(folder, 'a'))
    expect(statSync(join(folder, 'a/b/c')).mode & 0o777).toBe(0o700)
    expect(await make(join(folder, 'a/b/c'))).toBeNull()
    symlinkSync('a', join(folder, 'link'))
    expect(await make(join(folder, 'link/b'))).toBeNull()
  })

  it('may be called by several at once', async () => {
    const folder = temporaryFolder()
    await Promise.all(Array.from({ length: 20 }, () => make(join(folder, 'a/b/c/d'))))
    expect(readdirSync(join(folder, 'a/b/c'))).toEqual(['d'])
  })

  it('fails where a file is in the way, and at a link that leads nowhere', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'file'), '')
    symlinkSync('nowhere', join(folder, 'link'))
    mkdirSync(join(folder, 'there'))
    await expect(async () => make(join(folder, 'file'))).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(async () => make(join(folder, 'file/a/b'))).rejects.toMatchObject({ code: 'ENOTDIR' })
    await expect(async () => make(join(folder, 'link'))).rejects.toMatchObject({ code: 'EEXIST' })
  })

  it.runIf(process.platform === 'linux')('fails below /proc, where nothing can be made', async () => {
    await expect(async () => make('/proc/x/y')).rejects.toMatchObject({ code: 'ENOENT', path: '/proc/x' })
  })
})
