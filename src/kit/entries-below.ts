import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from './error-code.ts'

/**
 * Everything below a folder, whose writer may be a stranger: a link is listed and never followed. Of a folder that is missing or goes meanwhile there is nothing.
 * `recursive` of readdir would follow links, in some versions of Node always.
 */
export async function entriesBelow(folder: string): Promise<readonly Dirent[]> {
  const found: Dirent[] = []
  const folders = [folder]
  for (const each of folders) {
    const entries = await readdir(each, { withFileTypes: true }).catch(noneWhenMissing)
    for (const entry of entries) {
      found.push(entry)
      if (entry.isDirectory()) folders.push(join(entry.parentPath, entry.name))
    }
  }
  return found
}

function noneWhenMissing(error: unknown): never[] {
  if (isMissing(error)) return []
  throw error
}
