/**
 * Shows a workspace what is installed for it: links to the packages on this machine. Nothing is copied, and a folder of packages is a real one,
 * since test runners keep their caches in it.
 */
import type { Dirent } from 'node:fs'
import { access, constants, readdir, readFile, readlink, symlink } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { unavailable, type Dependencies } from '../../../src/contract/index.ts'
import { hasCode, isFolder, mkdirp } from '../../../src/kit/index.ts'

export interface Installed {
  /** Where each leads, by its path in the workspace. */
  readonly links: ReadonlyMap<string, string>
  /** Folders that the command must be able to read. */
  readonly needs: readonly string[]
}

/** Refused where one of them is not installed here: tests without it would say nothing about an agent. */
export async function findInstalled(dependencies: Dependencies): Promise<Installed> {
  const found = await Promise.all(Object.entries(dependencies).map(([path, folder]) => installedIn(path, folder)))
  return { links: new Map(found.flatMap(({ links }) => [...links])), needs: found.flatMap(({ needs }) => needs) }
}

async function installedIn(path: string, folder: string): Promise<Installed> {
  if (await isFolder(folder)) {
    if (basename(folder) === 'node_modules') return { links: new Map(await packageLinks(path, folder)), needs: [folder] }
    const home = await pythonHome(folder)
    if (home !== null) return { links: new Map([[path, folder]]), needs: [folder, ...home] }
  }
  throw unavailable(
    'no_dependencies',
    `${JSON.stringify(folder)}, which a task needs, holds no installed packages on this machine; install them there, or take it out of dependencies in its task.yaml`,
  )
}

/** Other hidden folders are caches, which may hold code of later commits. */
const HIDDEN_SHOWN: ReadonlySet<string> = new Set(['.bin', '.pnpm'])

type Link = readonly [path: string, to: string]

async function packageLinks(path: string, folder: string): Promise<readonly Link[]> {
  const links: Link[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const { name } = entry
    if (name.startsWith('.') && !HIDDEN_SHOWN.has(name)) continue
    const [inside, outside] = [join(path, name), join(folder, name)]
    if (name.startsWith('@') && entry.isDirectory()) links.push(...(await packageLinks(inside, outside)))
    else links.push(...(await packageLink(entry, inside, outside)))
  }
  return links
}

/** A relative link is kept: it leads to another package, or to one of the workspace's own. */
async function packageLink(entry: Dirent, inside: string, outside: string): Promise<readonly Link[]> {
  if (entry.isDirectory()) return [[inside, outside]]
  if (!entry.isSymbolicLink()) return []
  const to = await readlink(outside)
  return isAbsolute(to) ? [] : [[inside, to]]
}

/** Where an episode sees Python already. */
const SYSTEM = /^\/(?:usr\/)?(?:local\/)?bin$/

/** The folder of the Python that a virtual environment is of, unless it is the system's. Null for what is no such environment. */
async function pythonHome(folder: string): Promise<readonly string[] | null> {
  const settings = await readFile(join(folder, 'pyvenv.cfg'), 'utf8').catch(() => '')
  const home = /^home *= *(\/.*)/m.exec(settings)?.[1]?.trimEnd()
  if (home === undefined || !(await isProgram(join(home, 'python3')))) return null
  const above = dirname(home)
  // A folder that holds more than a Python is not shown.
  if (SYSTEM.test(home) || basename(home) !== 'bin' || `${homedir()}/`.startsWith(`${above}/`)) return []
  return [above]
}

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  )

/** What the workspace holds itself stays. */
export async function makeLinks(workspace: string, links: Installed['links']): Promise<void> {
  for (const [path, to] of links) {
    try {
      await mkdirp(dirname(join(workspace, path)))
      await symlink(to, join(workspace, path))
    } catch (error) {
      if (!hasCode(error, 'EEXIST', 'ENOTDIR')) throw error
    }
  }
}
