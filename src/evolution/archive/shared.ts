/** Step records that all gateways share: written by the one that trains, read at any. */
import type { Documents, StepArchive, StepFile } from '../../contract/index.ts'
import { newId } from '../../kit/index.ts'
import {
  checkPath,
  namesOf,
  newestNames,
  RECORD,
  SHOWN,
  STEP_LISTED_ENTRIES_MAX,
  tooMany,
  tooManyAttempts,
  type RecordPlace,
} from './names.ts'

/** Claims a folder; hidden, since it is no file of the step. */
const CLAIM = '.begun'

/** A retried step gets a folder of its own, and so does another trainer that is at the same step. */
export async function sharedFiles(documents: Documents, step: number): Promise<RecordPlace> {
  const own = await freshName(documents, step)
  return {
    own,
    async put(path, text) {
      if (!(await documents.write(`${own}/${path}`, text, null))) throw new Error(`${path} is there already`)
    },
    prune: (bytesMax) => prune(documents, own, bytesMax),
  }
}

async function freshName(documents: Documents, step: number): Promise<string> {
  const taken = new Set((await documents.list('')).map(({ name }) => name))
  for (const name of namesOf(step)) if (!taken.has(name) && (await documents.write(`${name}/${CLAIM}`, newId(), null))) return name
  throw tooManyAttempts(step)
}

async function prune(documents: Documents, current: string, bytesMax: number): Promise<void> {
  const sizes = new Map((await documents.list('')).map(({ name, bytes }) => [name, bytes]))
  let bytes = sizes.get(current) ?? 0
  for (const name of newestNames([...sizes.keys()])) {
    if (name === current) continue
    bytes += sizes.get(name) ?? 0
    if (bytes > bytesMax) await documents.remove(name)
  }
}

export function openSharedArchive(documents: Documents): StepArchive {
  return {
    async list(record) {
      const own = ownOf(record)
      const files = own === null ? [] : await filesIn(documents, own)
      return files.length === 0 ? null : files.filter(({ path }) => SHOWN.test(path)).toSorted((a, b) => (a.path < b.path ? -1 : 1))
    },
    async read(record, path) {
      checkPath(path)
      const own = ownOf(record)
      const bytes = own === null || !SHOWN.test(path) ? null : await documents.read(`${own}/${path}`)
      return bytes === null ? null : Buffer.from(bytes).toString()
    },
  }
}

/** The folder of the scenario is the owner's already. */
const ownOf = (record: string): string | null => (RECORD.test(record) ? record.slice(record.indexOf('/') + 1) : null)

async function filesIn(documents: Documents, own: string): Promise<readonly StepFile[]> {
  const files: StepFile[] = []
  const folders = ['']
  let entries = 0
  for (const folder of folders)
    for (const { name, isFolder, bytes } of await documents.list(folder === '' ? own : `${own}/${folder}`)) {
      entries += 1
      if (entries > STEP_LISTED_ENTRIES_MAX) throw tooMany()
      const path = folder === '' ? name : `${folder}/${name}`
      if (isFolder) folders.push(path)
      else files.push({ path, bytes })
    }
  return files
}
