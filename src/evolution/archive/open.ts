/** Reads step records: lists the files of a record, and reads one of them. Never reads outside the record's folder. */
import { constants, type Stats } from 'node:fs'
import { lstat, open, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { invalid, type StepArchive, type StepFile } from '../../contract/index.ts'
import { hasCode, isMissing } from '../../kit/index.ts'

export const STEP_FILE_BYTES_MAX = 4 * 1024 * 1024
const STEP_LISTED_ENTRIES_MAX = 1000

export function openArchive(directory: string): StepArchive {
  return {
    async list(record) {
      const root = await rootOf(directory, record)
      return root === null ? null : (await filesIn(root)).toSorted((a, b) => (a.path < b.path ? -1 : 1))
    },
    async read(record, path) {
      checkPath(path)
      const root = await rootOf(directory, record)
      return root === null ? null : textOf(root, path)
    },
  }
}

const SHOWN = /\.jsonl?$/
/** The names that steps give their records. */
const RECORD = /^[A-Za-z0-9][A-Za-z0-9._-]*\/\d+(?:-\d+)?$/

/** The record's folder; null when it is gone or is a symbolic link. */
async function rootOf(directory: string, record: string): Promise<string | null> {
  const found = RECORD.test(record) ? await lookAt(directory, record) : null
  return found !== null && found.isDirectory() ? join(directory, record) : null
}

/** The file at a path below a folder, without following links: a link on the way is returned itself. Null when there is nothing. */
async function lookAt(folder: string, path: string): Promise<Stats | null> {
  let at = folder
  let found: Stats | null = null
  for (const part of path.split('/')) {
    at = join(at, part)
    found = await lstat(at).catch(nullWhenMissing)
    if (found === null || found.isSymbolicLink()) return found
  }
  return found
}

/** ENAMETOOLONG also means that no such file can exist. */
function nullWhenMissing(error: unknown): null {
  if (isMissing(error) || hasCode(error, 'ENAMETOOLONG')) return null
  throw error
}

/** Entries that are not listed count towards the limit too. */
async function filesIn(root: string): Promise<readonly StepFile[]> {
  const files: StepFile[] = []
  const folders = ['']
  let entries = 0
  for (const folder of folders)
    for await (const entry of await opendir(join(root, folder))) {
      entries += 1
      if (entries > STEP_LISTED_ENTRIES_MAX) throw tooMany()
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile() && SHOWN.test(path)) files.push({ path, bytes: (await lstat(join(root, path))).size })
    }
  return files
}

const tooMany = (): Error =>
  invalid(
    'step_files_limit',
    `the record of this step holds more than ${STEP_LISTED_ENTRIES_MAX} files and folders; look at it where it is kept`,
  )

function checkPath(path: string): void {
  const isPlain = !/[\\\0]/.test(path) && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  if (!isPlain) throw badPath()
}

const badPath = (): Error => invalid('bad_path', 'path: must be one of the listed files, spelt as it is listed')

/** The file may have been replaced since: a link is not followed, and a pipe does not block. */
const OPENED = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

async function textOf(root: string, path: string): Promise<string | null> {
  const found = await lookAt(root, path)
  if (found?.isSymbolicLink() === true) throw badPath()
  if (found === null || !found.isFile() || !SHOWN.test(path)) return null
  if (found.size > STEP_FILE_BYTES_MAX) throw tooLarge()
  const file = await open(join(root, path), OPENED).catch(nullWhenMissing)
  try {
    return (await file?.readFile('utf8')) ?? null
  } finally {
    await file?.close()
  }
}

const tooLarge = (): Error =>
  invalid('step_files_limit', `path: the file holds more than ${STEP_FILE_BYTES_MAX} bytes; look at it where it is kept`)
