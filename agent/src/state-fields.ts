/** Files of an agent of which only some fields are kept: what a session wrote into the others would speak to the next one. */
import { lstat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseJson } from '@svc-ai/client/shared'
import { ifAbsent, ignoring } from './failure.ts'
import { PRIVATE, readIfThere, writeWhole } from './whole-file.ts'
import { mkdirp } from '@svc-ai/client/folders'

/** Path of a JSON file, to the names of the fields that are kept. */
export type StateFields = Readonly<Record<string, readonly string[]>>

const BYTES_MAX = 4 * 1024 * 1024
const CHARACTERS_MAX = 100

/** Copies, and no links: what the agent writes is looked at before it is kept. */
export async function giveFields(fields: StateFields, state: string, root: string): Promise<void> {
  for (const [path, names] of Object.entries(fields)) {
    const text = await pickedAt(join(state, path), names)
    if (text === null) continue
    await mkdirp(dirname(join(root, path)), { mode: 0o700 })
    await writeFile(join(root, path), text, { mode: PRIVATE, flag: 'wx' }).catch(ignoring('EEXIST'))
  }
}

/** Of two sessions the later writer's is kept. */
export async function takeFields(fields: StateFields, root: string, state: string): Promise<void> {
  for (const [path, names] of Object.entries(fields)) {
    const text = await pickedAt(join(root, path), names)
    if (text === null) continue
    const [made, kept] = await Promise.all([root, state].map((folder) => lstat(join(folder, path)).catch(ifAbsent)))
    if (kept?.isDirectory() === true || (kept?.mtimeMs ?? 0) > (made?.mtimeMs ?? 0)) continue
    await mkdirp(dirname(join(state, path)), { mode: 0o700 })
    await writeWhole({ path: join(state, path), text, mode: PRIVATE })
  }
}

/** Null where there is no such file, or nothing to keep of it. */
async function pickedAt(path: string, names: readonly string[]): Promise<string | null> {
  const found = await lstat(path).catch(ifAbsent)
  if (found === null || !found.isFile() || found.size > BYTES_MAX) return null
  const value = parseJson((await readIfThere(path)) ?? '')
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const picked = Object.entries(value).filter(([name, each]) => names.includes(name) && isPlain(each))
  return picked.length === 0 ? null : `${JSON.stringify(Object.fromEntries(picked), null, 2)}\n`
}

/** A number, a switch or a short word: never something with parts. */
const isPlain = (value: unknown): boolean =>
  typeof value === 'boolean' ||
  typeof value === 'number' ||
  (typeof value === 'string' && /^[\w.:+-]*$/.test(value) && value.length <= CHARACTERS_MAX)
