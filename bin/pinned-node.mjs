/** Which Node to run on: this one when it is new enough, else the one pinned beside the package. Plain enough for any Node from 16 on. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const NODE_LEAST = '22.19'

export function isNewEnough(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = NODE_LEAST.split('.').map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}

/** The pinned Node in a node_modules of this folder or of one above it, or null. */
export function findPinnedNode(start = dirname(fileURLToPath(import.meta.url))) {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  for (let folder = start; ; folder = dirname(folder)) {
    const modules = join(folder, 'node_modules')
    const places = [join(modules, `node-${platform}-${process.arch}`, 'bin', name), join(modules, '.bin', name)]
    const found = places.find((place) => existsSync(place))
    if (found !== undefined) return found
    if (dirname(folder) === folder) return null
  }
}
