/** Writes the verifier's files into the copy, replacing the agent's. */
import { lstat, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Files } from '../../../src/contract/index.ts'

/** Cleared first: the verifier's files could load the agent's files there. */
const OWN_FOLDER = 'verify'

export async function placeFiles(folder: string, files: Files): Promise<void> {
  if (Object.keys(files).some((path) => path.startsWith(`${OWN_FOLDER}/`))) await remove(join(folder, OWN_FOLDER))
  for (const [path, text] of Object.entries(files)) {
    await makeWay(folder, dirname(path))
    await remove(join(folder, path))
    await writeFile(join(folder, path), text, { flag: 'wx' })
  }
}

/** Makes real folders: a link would lead outside the copy. */
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
