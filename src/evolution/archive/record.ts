/** The record of one step, as files for people to read: model calls, the proposed change, and every episode. */
import { constants, type Stats } from 'node:fs'
import { mkdir, rm, writeFile, lstat, readdir, open, opendir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  isObject,
  JSON_DEPTH_MAX,
  type Documents,
  type Json,
  type JsonObject,
  type StepArchive,
  type StepFile,
} from '../../contract/index.ts'
import { countCodePoints, entriesBelow, firstCodePoints, hasCode, isMissing, mkdirp, withoutSecrets, wordsOf } from '../../kit/index.ts'
import {
  badPath,
  checkPath,
  namesOf,
  newestNames,
  RECORD,
  SHOWN,
  STEP_FILE_BYTES_MAX,
  STEP_LISTED_ENTRIES_MAX,
  tooLarge,
  tooMany,
  tooManyAttempts,
  type RecordPlace,
} from './names.ts'
import { sharedFiles } from './shared.ts'

const TEXT_CHARACTERS_MAX = 20_000
const TOO_DEEP = `[nested more than ${JSON_DEPTH_MAX} levels deep]`

/** Files and folders of one step: fewer than the route may list. */
const STEP_ENTRIES_MAX = 900
const STEP_BYTES_MAX = 64 * 1024 * 1024
const EPISODE_NAME_CHARACTERS_MAX = 100

export interface StepRecord {
  /** The row's `step_record`; null when nothing is recorded. */
  readonly name: string | null
  /** Writes one JSON file. A disk error is noted and ends the recording; the step goes on. */
  write(path: string, value: Json): Promise<void>
  /** Writes one JSONL file. */
  lines(path: string, values: readonly Json[]): Promise<void>
  /** `episodes/<name>/episode.json`, and the trajectory beside it. The name is `<side>-<task>[-<repeat>]`. Answers with the folder. */
  episode(name: string, about: JsonObject, trajectory: readonly JsonObject[]): Promise<string | null>
  /** Writes what was dropped, prunes older records, and returns the fields for the row. */
  close(keptBytesMax: number): Promise<JsonObject>
}

/** Null where recording is off. `shared` is where all gateways keep them. */
export async function openStepRecord(
  directory: string | null,
  scenarioFolder: string,
  step: number,
  shared: Documents | null = null,
): Promise<StepRecord | null> {
  if (directory === null) return null
  try {
    const files = shared === null ? await folderFiles(join(directory, scenarioFolder), step) : await sharedFiles(shared, step)
    return new Recording(files, `${scenarioFolder}/${files.own}`)
  } catch (error) {
    return new NoRecording(error)
  }
}

async function folderFiles(folder: string, step: number): Promise<RecordPlace> {
  const own = await freshFolder(folder, step)
  return {
    own,
    async put(path, text) {
      const file = join(folder, own, path)
      try {
        await mkdirp(dirname(file))
        await writeFile(file, text, { flag: 'wx' })
      } catch (error) {
        // A partial file would look complete.
        if (!isThere(error)) await rm(file, { force: true }).catch(() => undefined)
        throw error
      }
    },
    prune: (bytesMax) => pruneRecords(folder, own, bytesMax),
  }
}

/** A retried step gets a folder of its own; earlier ones stay unchanged. */
async function freshFolder(folder: string, step: number): Promise<string> {
  await mkdirp(folder)
  for (const name of namesOf(step)) {
    try {
      await mkdir(join(folder, name))
      return name
    } catch (error) {
      if (!isThere(error)) throw error
    }
  }
  throw tooManyAttempts(step)
}

const isThere = (error: unknown): boolean => hasCode(error, 'EEXIST')

class Recording implements StepRecord {
  readonly name: string
  readonly #stored: RecordPlace
  readonly #episodes = new Set<string>()
  readonly #dropped = { files: 0, lines: 0, bytes: 0 }
  #folders: ReadonlySet<string> = new Set()
  #files = 0
  #bytes = 0
  #error: string | null = null

  constructor(stored: RecordPlace, name: string) {
    this.#stored = stored
    this.name = name
  }

  async write(path: string, value: Json): Promise<void> {
    await this.#create(path, `${JSON.stringify(redacted(value), null, 2)}\n`)
  }

  async lines(path: string, values: readonly Json[]): Promise<void> {
    let text = ''
    let bytes = 0
    for (const value of values) {
      const line = `${JSON.stringify(redacted(value))}\n`
      const lineBytes = Buffer.byteLength(line)
      if (bytes + lineBytes > STEP_FILE_BYTES_MAX) this.#drop('lines', lineBytes)
      else {
        text += line
        bytes += lineBytes
      }
    }
    await this.#create(path, text)
  }

  async episode(name: string, about: JsonObject, trajectory: readonly JsonObject[]): Promise<string> {
    const folder = `episodes/${this.#freeName(name)}`
    await this.write(`${folder}/episode.json`, about)
    await this.lines(`${folder}/trajectory.jsonl`, trajectory)
    return folder
  }

  /** A task may have any name, and may be played more than once. */
  #freeName(name: string): string {
    const plain = name.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, EPISODE_NAME_CHARACTERS_MAX)
    let free = plain
    for (let times = 2; this.#episodes.has(free); times += 1) free = `${plain}-${times}`
    this.#episodes.add(free)
    return free
  }

  async close(keptBytesMax: number): Promise<JsonObject> {
    if (this.#dropped.files + this.#dropped.lines > 0) await this.#put('dropped.json', `${JSON.stringify(this.#dropped, null, 2)}\n`)
    await this.#stored.prune(keptBytesMax).catch((error: unknown) => this.#stop(error))
    return { step_record: this.name, ...(this.#error !== null && { step_record_error: this.#error }) }
  }

  /** Counts the space before the first await, since episodes end concurrently. */
  async #create(path: string, text: string): Promise<void> {
    if (!PATH.test(path)) throw new Error(`${path} is no path of a step record`)
    const bytes = Buffer.byteLength(text)
    const folders = new Set([...this.#folders, ...foldersOf(path)])
    const fits = folders.size + this.#files + 1 <= STEP_ENTRIES_MAX && this.#bytes + bytes <= STEP_BYTES_MAX
    if (!fits || bytes > STEP_FILE_BYTES_MAX) return this.#drop('files', bytes)
    this.#folders = folders
    this.#files += 1
    this.#bytes += bytes
    await this.#put(path, text)
  }

  #drop(what: 'files' | 'lines', bytes: number): void {
    this.#dropped[what] += 1
    this.#dropped.bytes += bytes
  }

  async #put(path: string, text: string): Promise<void> {
    if (this.#error !== null) return
    await this.#stored.put(path, text).catch((error: unknown) => this.#stop(error))
  }

  #stop(error: unknown): void {
    this.#error ??= wordsOf(error)
  }
}

const PATH = /^(?:[A-Za-z0-9][A-Za-z0-9._-]*\/)*[A-Za-z0-9][A-Za-z0-9._-]*\.jsonl?$/

/** `a/b/c.json` lies in `a` and `a/b`. */
const foldersOf = (path: string): readonly string[] =>
  path.split('/').flatMap((_, at, parts) => (at === 0 ? [] : [parts.slice(0, at).join('/')]))

/** Used when the folder could not be made: the step goes on, and its row says why it has no record. */
class NoRecording implements StepRecord {
  readonly name = null
  readonly #error: string

  constructor(error: unknown) {
    this.#error = wordsOf(error)
  }

  async write(): Promise<void> {}
  async lines(): Promise<void> {}
  async episode(): Promise<null> {
    return null
  }

  async close(): Promise<JsonObject> {
    return { step_record_error: this.#error }
  }
}

async function pruneRecords(folder: string, current: string, bytesMax: number): Promise<void> {
  let bytes = await bytesOf(join(folder, current))
  for (const name of await newestFirst(folder)) {
    if (name === current) continue
    const path = join(folder, name)
    bytes += await bytesOf(path)
    if (bytes > bytesMax) await rm(path, { recursive: true, force: true })
  }
}

async function newestFirst(folder: string): Promise<readonly string[]> {
  return newestNames(await readdir(folder))
}

async function bytesOf(path: string): Promise<number> {
  const entries = await entriesBelow(path).catch(() => [])
  const sizes = await Promise.all(entries.filter((entry) => entry.isFile()).map((entry) => sizeOf(join(entry.parentPath, entry.name))))
  return sizes.reduce((sum, size) => sum + size, 0)
}

const sizeOf = (path: string): Promise<number> =>
  lstat(path).then(
    ({ size }) => size,
    () => 0,
  )

/** A copy of the data of a step without credentials, field names included, and with long texts cut. */
const redacted = (value: Json): Json => walk(value, (raw) => cut(withoutSecrets(raw)), 0)

/** Agents may write JSON of any depth. */
function walk(value: Json, text: (raw: string) => string, depth: number): Json {
  if (typeof value === 'string') return text(value)
  if (depth >= JSON_DEPTH_MAX && typeof value === 'object' && value !== null) return TOO_DEEP
  if (Array.isArray(value)) return value.map((item: Json) => walk(item, text, depth + 1))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [text(key), walk(member, text, depth + 1)]))
}

/** Runs after redaction: half a credential at the cut would not be recognised. */
function cut(text: string): string {
  if (text.length <= TEXT_CHARACTERS_MAX) return text
  const first = firstCodePoints(text, TEXT_CHARACTERS_MAX)
  const dropped = countCodePoints(text) - countCodePoints(first)
  return dropped === 0 ? text : `${first} [${dropped} characters dropped]`
}

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
