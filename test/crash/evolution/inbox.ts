/** Reads the inboxes of all scenarios from the disk, whether a service runs or not. No two proposals have the same id. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { PLACES, type Lying } from './seen.ts'

export const readInboxes = (folder: string): readonly Lying[] => namesIn(folder).flatMap((name) => readInbox(join(folder, name)))

function readInbox(folder: string): readonly Lying[] {
  return PLACES.flatMap((place) => {
    const at = place === 'pending' ? folder : join(folder, place)
    const files = namesIn(at).filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    return files.map((name) => ({ id: name.slice(0, -'.json'.length), place, file: objectAt(join(at, name)) }))
  })
}

/** A folder appears with its first file. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function objectAt(path: string): JsonObject | null {
  try {
    const value: Json = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
