/** Finds what is installed in a checkout: `node_modules` of the repository and of its packages, and virtual environments of Python. */
import { accessSync, constants, existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { pathProblem, type Dependencies } from '../../../src/contract/index.ts'

const PACKAGES = 'node_modules'
/** As far down as packages of a repository usually lie. */
const DEPTH_MAX = 3
const FOLDERS_MAX = 2000
const FOUND_MAX = 32

/** By path below the top, without what lies in a hidden folder or behind a link. */
export async function installedBelow(top: string): Promise<Dependencies> {
  if (top.includes('\n')) return {}
  const found: [path: string, folder: string][] = []
  const left = ['']
  for (let looked = 0; looked < FOLDERS_MAX && found.length < FOUND_MAX; looked += 1) {
    const here = left.shift()
    if (here === undefined) break
    for (const { name, ...entry } of await foldersIn(join(top, here))) {
      const path = posix.join(here, name)
      // A path that no task can name must not keep the others from being shown.
      if (isOdd(path)) continue
      if (entry.isInstalled) found.push([path, join(top, path)])
      else if (!name.startsWith('.') && name !== PACKAGES && path.split('/').length < DEPTH_MAX) left.push(path)
    }
  }
  return Object.fromEntries(found)
}

const isOdd = (path: string): boolean => path.includes('\n') || pathProblem(path) !== null

async function foldersIn(folder: string): Promise<readonly { name: string; isInstalled: boolean }[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, isInstalled: name === PACKAGES ? isReadable(join(folder, name)) : isEnvironment(join(folder, name)) }))
}

const isReadable = (folder: string): boolean => {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** One whose Python is gone runs no test. */
const isEnvironment = (folder: string): boolean => existsSync(join(folder, 'pyvenv.cfg')) && existsSync(join(folder, 'bin/python3'))

/** Those that a workspace has a place for and does not hold itself. */
export function dependenciesOf(installed: Dependencies, paths: readonly string[]): Dependencies {
  const isBelow = (folder: string): boolean => folder === '.' || paths.some((path) => path.startsWith(`${folder}/`))
  return Object.fromEntries(Object.entries(installed).filter(([path]) => isBelow(posix.dirname(path)) && !isBelow(path)))
}
