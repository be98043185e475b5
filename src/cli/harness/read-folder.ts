/** Reads a folder as content: texts by path, and what cannot be read as one. Nothing is followed, and nothing in it is waited for. */
import { constants } from 'node:fs'
import { lstat, open, readdir, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { invalid, TREE_BYTES_MAX, TREE_ENTRIES_MAX } from '../../contract/index.ts'
import type { FolderContent, StrayFile } from '../../harness/index.ts'
import { codeOf } from '../../kit/index.ts'
import { shellWord } from '../screen/text.ts'

/** A tree is rendered to about a file for each entry. */
const FILES_MAX = 4 * TREE_ENTRIES_MAX
const WHOLE_BYTES_MAX = 16 * TREE_BYTES_MAX

export async function readFolder(folder: string): Promise<FolderContent> {
  await requireFolder(folder)
  const files: [string, string][] = []
  const odd: StrayFile[] = []
  let left = WHOLE_BYTES_MAX
  for (const path of await pathsIn(folder)) {
    const read = await readText(join(folder, path), Math.min(TREE_BYTES_MAX, left))
    if (typeof read === 'string') odd.push({ path, what: read })
    else {
      files.push([path, read.text])
      left -= read.bytes
    }
  }
  return { files: Object.fromEntries(files), odd }
}

async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch((error: unknown) => codeOf(error) ?? 'unreadable')
  if (typeof found === 'string') {
    const problem = found === 'ENOENT' || found === 'ENOTDIR' ? 'does not exist' : `cannot be read (${found})`
    throw invalid('no_folder', `${shellWord(folder)} ${problem}; name the folder of a tree`)
  }
  if (!found.isDirectory()) throw invalid('no_folder', `${shellWord(folder)} is no folder; name the folder that the tree is in`)
}

/** Every path below that is no folder, in order. The repository that a tree is checked out of is no part of it. */
async function pathsIn(folder: string): Promise<readonly string[]> {
  const found: string[] = []
  const waiting = ['']
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const listed = await readdir(join(folder, at), { withFileTypes: true }).catch(() => null)
    if (listed === null && at === '')
      throw invalid('no_folder', `${shellWord(folder)} cannot be listed; give yourself the right to read it`)
    if (listed === null) found.push(at)
    for (const each of listed ?? []) {
      const path = at === '' ? each.name : `${at}/${each.name}`
      if (path === '.git') continue
      if (each.isDirectory()) waiting.push(path)
      else found.push(path)
    }
    if (found.length + waiting.length > FILES_MAX)
      throw invalid('too_many_files', `${shellWord(folder)} holds more than ${FILES_MAX} files; name the folder of the tree itself`)
  }
  return found.toSorted()
}

type ReadText = { readonly text: string; readonly bytes: number }

/** The text of a plain file, or what it is instead. A pipe or a device is never opened to be read. */
async function readText(file: string, bytesMax: number): Promise<ReadText | string> {
  try {
    const found = await lstat(file)
    if (found.isSymbolicLink()) return 'it is a symbolic link, which may lead to any file'
    if (found.isDirectory()) return 'it is a folder that cannot be listed'
    if (!found.isFile()) return 'it is a pipe, a socket or a device'
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const bytes = await readUpTo(handle, bytesMax + 1)
      if (bytes.length > bytesMax) return `it is larger than ${bytesMax} bytes`
      return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), bytes: bytes.length }
    } finally {
      await handle.close()
    }
  } catch (error) {
    return error instanceof TypeError ? 'it is no text in UTF-8' : `it cannot be read (${codeOf(error) ?? 'unknown'})`
  }
}

/** No more than that, however much the file grows meanwhile. */
async function readUpTo(handle: FileHandle, most: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  for (let left = most; left > 0;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(left, CHUNK_BYTES)))
    if (bytesRead === 0) break
    chunks.push(buffer.subarray(0, bytesRead))
    left -= bytesRead
  }
  return Buffer.concat(chunks)
}

const CHUNK_BYTES = 64 * 1024
