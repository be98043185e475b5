/** Objects that somebody's `git gc` moved into packs: read through git itself, one process for all that are asked at once. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { git } from '../process.ts'
import { isObjectType } from './object.ts'
import type { StoredObject } from './object.ts'

const NEWLINE = 0x0a

export async function readPacked(repository: string, ids: readonly string[]): Promise<ReadonlyMap<string, StoredObject>> {
  if (ids.length === 0 || !(await hasPacks(repository))) return new Map()
  const answer = await git([`--git-dir=${repository}`, 'cat-file', '--batch'], ids.map((id) => `${id}\n`).join(''))
  return parseBatch(answer)
}

/** Without a pack there is nothing to ask git about, and an unknown id costs no process. */
async function hasPacks(repository: string): Promise<boolean> {
  const names = await readdir(join(repository, 'objects', 'pack')).catch(() => [])
  return names.some((name) => name.endsWith('.idx'))
}

/** `<id> <type> <size>\n<body>\n` for what is there, `<id> missing\n` for what is not. */
function parseBatch(answer: Buffer): Map<string, StoredObject> {
  const found = new Map<string, StoredObject>()
  let at = 0
  while (at < answer.length) {
    const lineEnd = answer.indexOf(NEWLINE, at)
    const [id = '', type = '', size] = answer.toString('latin1', at, lineEnd).split(' ')
    at = lineEnd + 1
    if (size === undefined) continue
    const bodyEnd = at + Number(size)
    if (isObjectType(type)) found.set(id, { type, body: answer.subarray(at, bodyEnd) })
    at = bodyEnd + 1
  }
  return found
}
