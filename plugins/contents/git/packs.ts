/** What `git gc` moved into packs. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isObjectType, makeObject, type StoredObject } from '../common/objects/object.ts'
import { damagedObject } from '../common/objects/objects.ts'
import { git } from './process.ts'

const NEWLINE = 0x0a

/** Read through git itself, one process for all of them. */
export async function readPacked(repository: string, ids: readonly string[]): Promise<ReadonlyMap<string, StoredObject>> {
  return (await hasPacks(repository)) ? readThroughGit(repository, ids) : new Map()
}

/** In a pack or not. */
export async function readThroughGit(repository: string, ids: readonly string[]): Promise<ReadonlyMap<string, StoredObject>> {
  const answer = await git([`--git-dir=${repository}`, 'cat-file', '--batch'], ids.map((id) => `${id}\n`).join(''))
  return parseBatch(answer)
}

/** Without a pack there is nothing to ask git about, and an unknown id costs no process. */
async function hasPacks(repository: string): Promise<boolean> {
  const names = await readdir(join(repository, 'objects', 'pack')).catch(() => [])
  return names.some((name) => name.endsWith('.idx'))
}

/** `<id> <type> <size>\n<body>\n` for what is there, `<id> missing\n` for what is not. Git does not hold packed bytes against their id. */
function parseBatch(answer: Buffer): Map<string, StoredObject> {
  const found = new Map<string, StoredObject>()
  let at = 0
  while (at < answer.length) {
    const lineEnd = answer.indexOf(NEWLINE, at)
    const [id = '', type = '', size] = answer.toString('latin1', at, lineEnd).split(' ')
    at = lineEnd + 1
    if (size === undefined) continue
    const bodyEnd = at + Number(size)
    const body = answer.subarray(at, bodyEnd)
    at = bodyEnd + 1
    if (!isObjectType(type)) continue
    if (makeObject(type, body).id !== id) throw damagedObject(id)
    found.set(id, { type, body })
  }
  return found
}
