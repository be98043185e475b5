/** Reads the texts of a task's folder. Anything but plain text files is refused: a task without one of its files measures something else. */
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { Files } from '../../contract/index.ts'
import { isMissing } from '../../kit/index.ts'

/** Null when there is no such file. */
export async function textAt(path: string, bytesMax: number): Promise<string | null> {
  try {
    if ((await lstat(path)).size > bytesMax) throw new Error(`a file is larger than ${bytesMax} bytes`)
    return decoder.decode(await readFile(path))
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Null when there is no such folder. */
export async function filesBelow(folder: string, bytesMax: number): Promise<Files | null> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
  if (found === null) return null
  const files: Record<string, string> = {}
  let bytes = 0
  for (const entry of found.filter((each) => !each.isDirectory())) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path).split(sep).join('/')
    if (!entry.isFile()) throw new Error(`${JSON.stringify(name)} is not a plain file; put the file itself there`)
    bytes += (await lstat(path)).size
    if (bytes > bytesMax) throw new Error(`its files are more than ${bytesMax} bytes`)
    files[name] = textOf(name, await readFile(path))
  }
  return files
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(name: string, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw new Error(`${JSON.stringify(name)} is not text; let the task create it with a command`, { cause: error })
  }
}
