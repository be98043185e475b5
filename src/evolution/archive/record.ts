/** What one step leaves beside its row: what was asked and answered, what was proposed, and every episode, as files for people to read. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Json, JsonObject } from '../../contract/index.ts'
import { wordsOf } from '../../kit/index.ts'
import { STEP_FILE_BYTES_MAX } from './limits.ts'
import { pruneRecords } from './prune.ts'
import { redacted } from './redact.ts'

/** Files and folders of one step: fewer than the route lists, so that none of ours is ever refused there. */
const STEP_ENTRIES_MAX = 900
const STEP_BYTES_MAX = 64 * 1024 * 1024
/** How many times the same step may be tried before something else must be wrong. */
const ATTEMPTS_MAX = 1000
const EPISODE_NAME_CHARACTERS_MAX = 100

export interface StepRecord {
  /** What the row says under `step_record`; null when there is nothing to refer to. */
  readonly name: string | null
  /** One JSON file. A failure of the disk is noted and ends the recording; no step fails for it. */
  write(path: string, value: Json): Promise<void>
  /** One JSONL file. */
  lines(path: string, values: readonly Json[]): Promise<void>
  /** `episodes/<name>/episode.json`, and the trajectory beside it. The name is `<side>-<task>[-<repeat>]`. */
  episode(name: string, about: JsonObject, trajectory: readonly JsonObject[]): Promise<void>
  /** Says what did not fit, makes room among older steps, and answers what the row says of it all. */
  close(keptBytesMax: number): Promise<JsonObject>
}

/** Null where recording is off. `secrets` are texts that may stand in none of the files. */
export async function openStepRecord(
  directory: string | null,
  scenarioFolder: string,
  step: number,
  secrets: readonly string[],
): Promise<StepRecord | null> {
  if (directory === null) return null
  const folder = join(directory, scenarioFolder)
  try {
    const own = await freshFolder(folder, step)
    return new Recording(folder, own, `${scenarioFolder}/${own}`, secrets)
  } catch (error) {
    return new NoRecording(error)
  }
}

/** Never one that is there already: a step that is tried again has its own, and the first one stays as it was. */
async function freshFolder(folder: string, step: number): Promise<string> {
  await mkdir(folder, { recursive: true })
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const name = attempt === 1 ? String(step) : `${step}-${attempt}`
    try {
      await mkdir(join(folder, name))
      return name
    } catch (error) {
      if (!isThere(error)) throw error
    }
  }
  throw new Error(`step ${step} was tried more than ${ATTEMPTS_MAX} times`)
}

const isThere = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EEXIST'

class Recording implements StepRecord {
  readonly name: string
  readonly #folder: string
  readonly #own: string
  readonly #secrets: readonly string[]
  readonly #episodes = new Set<string>()
  readonly #dropped = { files: 0, lines: 0, bytes: 0 }
  #folders: ReadonlySet<string> = new Set()
  #files = 0
  #bytes = 0
  #error: string | null = null

  constructor(folder: string, own: string, name: string, secrets: readonly string[]) {
    this.#folder = folder
    this.#own = own
    this.name = name
    this.#secrets = secrets
  }

  async write(path: string, value: Json): Promise<void> {
    await this.#create(path, `${JSON.stringify(redacted(value, this.#secrets), null, 2)}\n`)
  }

  async lines(path: string, values: readonly Json[]): Promise<void> {
    let text = ''
    let bytes = 0
    for (const value of values) {
      const line = `${JSON.stringify(redacted(value, this.#secrets))}\n`
      const lineBytes = Buffer.byteLength(line)
      if (bytes + lineBytes > STEP_FILE_BYTES_MAX) this.#drop('lines', lineBytes)
      else {
        text += line
        bytes += lineBytes
      }
    }
    await this.#create(path, text)
  }

  async episode(name: string, about: JsonObject, trajectory: readonly JsonObject[]): Promise<void> {
    const folder = `episodes/${this.#freeName(name)}`
    await this.write(`${folder}/episode.json`, about)
    await this.lines(`${folder}/trajectory.jsonl`, trajectory)
  }

  /** A task may be called anything, and be played again. */
  #freeName(name: string): string {
    const plain = name.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, EPISODE_NAME_CHARACTERS_MAX)
    let free = plain
    for (let times = 2; this.#episodes.has(free); times += 1) free = `${plain}-${times}`
    this.#episodes.add(free)
    return free
  }

  async close(keptBytesMax: number): Promise<JsonObject> {
    if (this.#dropped.files + this.#dropped.lines > 0) await this.#put('dropped.json', `${JSON.stringify(this.#dropped, null, 2)}\n`)
    await pruneRecords(this.#folder, this.#own, keptBytesMax).catch((error: unknown) => this.#stop(error))
    return { step_record: this.name, ...(this.#error !== null && { step_record_error: this.#error }) }
  }

  /** Room is taken before anybody waits: episodes end side by side. */
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
    const file = join(this.#folder, this.#own, path)
    try {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text, { flag: 'wx' })
    } catch (error) {
      this.#stop(error)
      // Half a file would pass for a whole one.
      if (!isThere(error)) await rm(file, { force: true }).catch(() => undefined)
    }
  }

  #stop(error: unknown): void {
    this.#error ??= wordsOf(error)
  }
}

const PATH = /^(?:[A-Za-z0-9][A-Za-z0-9._-]*\/)*[A-Za-z0-9][A-Za-z0-9._-]*\.jsonl?$/

/** `a/b/c.json` lies in `a` and `a/b`. */
const foldersOf = (path: string): readonly string[] =>
  path.split('/').flatMap((_, at, parts) => (at === 0 ? [] : [parts.slice(0, at).join('/')]))

/** Where not even the folder could be made: the step goes on, and its row says why nothing of it was kept. */
class NoRecording implements StepRecord {
  readonly name = null
  readonly #error: string

  constructor(error: unknown) {
    this.#error = wordsOf(error)
  }

  async write(): Promise<void> {}
  async lines(): Promise<void> {}
  async episode(): Promise<void> {}

  async close(): Promise<JsonObject> {
    return { step_record_error: this.#error }
  }
}
