/** Makes, fills and removes the folder of an episode. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { checkFiles, childEnvironment, invalid, unavailable, type Files } from '../../../src/contract/index.ts'
import { makeOwnFolder, mkdirp, removeLeftFolders } from '../../../src/kit/index.ts'

const run = (program: string, args: readonly string[]): Promise<unknown> =>
  promisify(execFile)(program, args, { env: childEnvironment(process.env) })
const WORKSPACE = 'workspace'

export interface Folder {
  /** Only the service can enter it. */
  readonly path: string
  /** What the agent sees. */
  readonly root: string
  readonly workspace: string
}

export async function makeFolder(): Promise<Folder> {
  const path = await makeOwnFolder('episode')
  const root = join(path, 'root')
  return { path, root, workspace: join(root, WORKSPACE) }
}

/** Checks both sets of files first; the tree may not hold a file named `workspace`. */
export async function fillFolder({ root, workspace }: Folder, files: Files, given: Files): Promise<void> {
  if (Object.hasOwn(files, WORKSPACE)) throw invalid('bad_path', `${WORKSPACE} is the agent's working folder; rename the file`)
  checkFiles(given)
  const all = { ...files, ...Object.fromEntries(Object.entries(given).map(([path, text]) => [`${WORKSPACE}/${path}`, text])) }
  checkFiles(all)
  await mkdirp(workspace)
  for (const [path, text] of Object.entries(all)) {
    const target = join(root, path)
    await mkdirp(dirname(target))
    await writeFile(target, text)
  }
}

/** Uses rm, which follows no links and handles very long paths; retries after making every folder writable. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await run('rm', ['-rf', '--', path])
  } catch {
    await run('chmod', ['-R', 'u+rwX', '--', path]).catch(() => undefined)
    await run('rm', ['-rf', '--', path]).catch(() => {
      throw unavailable('episode_folder', 'the folder of an episode cannot be removed; check the temporary folder')
    })
  }
}

/** Removes folders of killed processes. Called when an executor is made. */
export const removeLeftovers = (): Promise<void> => removeLeftFolders('episode', removeFolder)
