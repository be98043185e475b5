/** One git object in bytes: `<type> <size>\0<body>`, named by the SHA-1 of all of it. */
import { hash } from 'node:crypto'

export type ObjectType = 'blob' | 'tree' | 'commit'
export interface StoredObject {
  readonly type: ObjectType
  readonly body: Buffer
}
export interface NewObject {
  readonly id: string
  /** Header and body, as git hashes and deflates them. */
  readonly bytes: Buffer
}

export const isObjectId = (text: string): boolean => /^[0-9a-f]{40}$/.test(text)
export const isObjectType = (text: string): text is ObjectType => text === 'blob' || text === 'tree' || text === 'commit'

export function makeObject(type: ObjectType, body: Uint8Array): NewObject {
  const bytes = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body])
  return { id: hash('sha1', bytes), bytes }
}

export function parseObject(id: string, bytes: Buffer): StoredObject {
  if (hash('sha1', bytes) !== id) throw new Error('the bytes do not match the id')
  const type = bytes.toString('latin1', 0, bytes.indexOf(' '))
  if (!isObjectType(type)) throw new Error(`${type} is not a type of object kept here`)
  return { type, body: bytes.subarray(bytes.indexOf(0) + 1) }
}
