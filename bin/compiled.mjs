/** Keeps what Node compiles of the service, so that the next start need not. Plain enough for any Node from 16 on. */
import { lstatSync, mkdirSync } from 'node:fs'
import * as modules from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

const WRITABLE_BY_OTHERS = 0o022
/** By then the start is over, and what it ran is compiled. A process that is killed writes nothing at its end. */
const FLUSH_MILLISECONDS = 3000

export function keepCompiled(root) {
  if (process.env.NODE_COMPILE_CACHE !== undefined) return
  const folder = compiledFolder(root, process.env)
  if (folder === null) return
  // Threads look it up there.
  process.env.NODE_COMPILE_CACHE = folder
  modules.enableCompileCache(folder)
  setTimeout(() => modules.flushCompileCache(), FLUSH_MILLISECONDS).unref()
}

/** In the package, else in the user's cache; null where neither is the user's own, since what lies there is run. */
export function compiledFolder(root, environment) {
  const places = [
    () => join(root, 'node_modules', '.cache', 'svc-compiled'),
    () => join(environment.XDG_CACHE_HOME || join(environment.HOME || homedir(), '.cache'), 'svc', 'compiled'),
  ]
  return places.map(ownFolder).find((folder) => folder !== null) ?? null
}

function ownFolder(place) {
  try {
    const folder = place()
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = lstatSync(folder)
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & WRITABLE_BY_OTHERS) === 0)
    return isOwn ? folder : null
  } catch {
    return null
  }
}
