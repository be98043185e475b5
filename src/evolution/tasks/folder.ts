/**
 * Reads tasks from a folder, one subfolder each: `task.yaml` or `task.json` holds the fields, `instruction.md` the prompt, `workspace/` the
 * files, `verify/` the verifier's files. A subfolder with `task.toml` is a Harbor task: its instruction and `tests/` are read, its images and
 * limits are not.
 */
import { readdir, lstat, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { parse } from 'yaml'
import {
  invalid,
  isObject,
  MINED_FILE,
  isRefusal,
  TASK_STATUSES,
  type Files,
  type Json,
  type JsonObject,
  type Refusal,
  type Task,
} from '../../contract/index.ts'
import { codeOf, entriesBelow, isMissing } from '../../kit/index.ts'
import { TASK_BYTES_MAX, taskFrom } from './task.ts'

export async function readFolder(directory: string, tasksMax: number): Promise<readonly Task[]> {
  try {
    return await tasksIn(directory, tasksMax)
  } catch (error) {
    throw isRefusal(error) ? invalid(error.code, `evolution.tasks_dir: ${error.message}`) : error
  }
}

async function tasksIn(directory: string, tasksMax: number): Promise<readonly Task[]> {
  const names = await foldersIn(directory)
  if (names.length === 0) throw invalid('no_tasks', 'it holds no folder; add one per task, each with a task.yaml')
  if (names.length > tasksMax) throw invalid('too_many_tasks', `it holds ${names.length} folders; at most ${tasksMax} are allowed`)
  const tasks: Task[] = []
  for (const name of names) if (await isInUse(directory, name)) tasks.push(await readTask(directory, name))
  if (tasks.length === 0) throw invalid('no_tasks', `none of its ${names.length} tasks is accepted; accept them: svc tasks accept`)
  return tasks
}

/** A mined task counts once it is accepted, a task without `mined.yaml` always. */
async function isInUse(directory: string, name: string): Promise<boolean> {
  const text = await textAt(join(directory, name, MINED_FILE), TASK_BYTES_MAX).catch((error: unknown) => {
    throw refused(name, `${MINED_FILE} cannot be read (${reasonOf(error)})`)
  })
  if (text === null) return true
  const written = parsed(name, MINED_FILE, text)
  const status = isObject(written) ? written['status'] : undefined
  if (TASK_STATUSES.some((each) => each === status)) return status === 'accepted'
  throw refused(name, `${MINED_FILE}: status must be one of ${TASK_STATUSES.join(', ')}`)
}

async function foldersIn(directory: string): Promise<readonly string[]> {
  const found = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    throw invalid('no_tasks', `it cannot be read (${reasonOf(error)}); name an existing folder`)
  })
  const folders = found.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  return folders.map(({ name }) => name).sort()
}

/** One task of a folder, used or not. */
export async function readTask(directory: string, name: string): Promise<Task> {
  try {
    return taskFrom(await fieldsIn(join(directory, name), name))
  } catch (error) {
    if (isRefusal(error)) throw error
    throw refused(name, `cannot be read (${reasonOf(error)})`)
  }
}

const refused = (name: string, problem: string): Refusal => invalid('task_invalid', `task ${name}: ${problem}`)

const reasonOf = (error: unknown): string => codeOf(error) ?? (error instanceof Error ? error.message : String(error))

/** Combines the task file with the folder's other files; a field may come from only one of them. */
async function fieldsIn(folder: string, name: string): Promise<JsonObject> {
  const { written, ofHarbor } = await writtenIn(folder, name)
  const inFolder = { ...(await promptIn(folder)), ...(ofHarbor ? await harborFiles(folder, name) : await ownFiles(folder)) }
  const twice = Object.keys(inFolder).find((field) => field !== 'verify' && field in written)
  if (twice !== undefined) throw refused(name, `${twice} is in the task file and in the folder; keep one of them`)
  return { name, ...inFolder, ...written }
}

interface Written {
  readonly written: JsonObject
  readonly ofHarbor: boolean
}

const KINDS = ['task.yaml', 'task.yml', 'task.json', 'task.toml'] as const

/** The file that holds the fields of a task. */
export async function taskFile(directory: string, name: string): Promise<{ readonly path: string; readonly text: string }> {
  for (const kind of KINDS) {
    const path = join(directory, name, kind)
    const text = await textAt(path, TASK_BYTES_MAX)
    if (text !== null) return { path, text }
  }
  throw isNoTask(name)
}

const isNoTask = (name: string): Refusal =>
  refused(name, `has no ${KINDS.join(', ')}; where it is no task, name another folder for the tasks`)

async function writtenIn(folder: string, name: string): Promise<Written> {
  const texts = await Promise.all(KINDS.map(async (kind) => ({ kind, text: await textAt(join(folder, kind), TASK_BYTES_MAX) })))
  const [first, second] = texts.filter(({ text }) => text !== null)
  if (first === undefined) throw isNoTask(name)
  if (second !== undefined) throw refused(name, `has both ${first.kind} and ${second.kind}; keep one of them`)
  if (first.kind === 'task.toml') return { written: {}, ofHarbor: true }
  const written = parsed(name, first.kind, first.text ?? '')
  if (isObject(written)) return { written, ofHarbor: false }
  throw refused(name, `${first.kind} must hold an object of fields`)
}

/** JSON is YAML too. The message gives the position and quotes no text. */
function parsed(name: string, kind: string, text: string): Json {
  try {
    const value: Json = parse(text, { prettyErrors: false })
    // A file of comments parses to null.
    return value ?? {}
  } catch (error) {
    throw refused(name, `${kind} does not parse (${error instanceof Error ? error.message.split('\n', 1)[0] : 'it is not YAML'})`)
  }
}

async function promptIn(folder: string): Promise<{ readonly prompt?: string }> {
  const prompt = await textAt(join(folder, 'instruction.md'), TASK_BYTES_MAX)
  return prompt === null ? {} : { prompt: prompt.trim() }
}

/** The folder of the verifier's files; an agent's own files there are removed. */
const VERIFY = 'verify'

async function ownFiles(folder: string): Promise<JsonObject> {
  const workspace = await filesBelow(join(folder, 'workspace'), TASK_BYTES_MAX)
  const hidden = await filesBelow(join(folder, VERIFY), TASK_BYTES_MAX)
  return {
    ...(workspace !== null && { files: workspace }),
    ...(hidden !== null && { verify_files: under(VERIFY, hidden) }),
    ...commandOf(hidden ?? {}, 'run.sh'),
  }
}

async function harborFiles(folder: string, name: string): Promise<JsonObject> {
  const hidden = (await filesBelow(join(folder, 'tests'), TASK_BYTES_MAX)) ?? {}
  if (!Object.hasOwn(hidden, 'test.sh')) throw refused(name, 'has a task.toml and no tests/test.sh, so nothing says whether it was solved')
  return { verify_files: under(VERIFY, hidden), ...commandOf(hidden, 'test.sh') }
}

const under = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]))

/** Runs the script through a shell, since file modes are not kept. */
function commandOf(files: Files, script: string): { readonly verify?: readonly string[] } {
  const text = Object.hasOwn(files, script) ? files[script] : undefined
  if (text === undefined) return {}
  return { verify: [/^#!.*\bbash\b/.test(text) ? 'bash' : 'sh', `${VERIFY}/${script}`] }
}

/** Null when there is no such file. */
async function textAt(path: string, bytesMax: number): Promise<string | null> {
  try {
    if ((await lstat(path)).size > bytesMax) throw new Error(`a file is larger than ${bytesMax} bytes`)
    return decoder.decode(await readFile(path))
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Null when there is no such folder. */
async function filesBelow(folder: string, bytesMax: number): Promise<Files | null> {
  const place = await stat(folder).catch(() => null)
  if (place?.isDirectory() !== true) return null
  const files: Record<string, string> = {}
  let bytes = 0
  for (const entry of (await entriesBelow(folder)).filter((each) => !each.isDirectory())) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path).split(sep).join('/')
    if (!entry.isFile()) throw new Error(`${JSON.stringify(name)} is not a plain file; put the file itself there`)
    bytes += (await lstat(path)).size
    if (bytes > bytesMax) throw new Error(`its files are more than ${bytesMax} bytes`)
    files[name] = textOf(name, await readFile(path))
  }
  return files
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(name: string, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw new Error(`${JSON.stringify(name)} is not text; let the task create it with a command`, { cause: error })
  }
}
