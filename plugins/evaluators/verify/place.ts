/** Puts the verifier's own files into the copy, over whatever the agent left in their way. */
import { lstat, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Files } from '../../../src/contract/index.ts'

/** The folder that is the verifier's alone: what the agent left beside its files there could be loaded by them. */
const OWN_FOLDER = 'verify'

export async function placeFiles(folder: string, files: Files): Promise<void> {
  if (Object.keys(files).some((path) => path.startsWith(`${OWN_FOLDER}/`))) await remove(join(folder, OWN_FOLDER))
  for (const [path, text] of Object.entries(files)) {
    await makeWay(folder, dirname(path))
    await remove(join(folder, path))
    await writeFile(join(folder, path), text, { flag: 'wx' })
  }
}

/** Every folder on the way is a real one: a link would lead the file out of the copy. */
async function makeWay(folder: string, path: string): Promise<void> {
  if (path === '.') return
  await makeWay(folder, dirname(path))
  const here = join(folder, path)
  if (await isFolder(here)) return
  await remove(here)
  await mkdir(here)
}

const isFolder = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true })
