/** Finds a program as a shell would: the first on the PATH that may be run. */
import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

export function findProgram(name: string, path = process.env['PATH'] ?? ''): string | null {
  const folders = path.split(delimiter).filter(isAbsolute)
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
