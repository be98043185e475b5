/** Mined tasks on the disk: one folder each, which appears whole or not at all, with what was found and decided in its `mined.yaml`. */
import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { parse, parseDocument, stringify } from 'yaml'
import { z } from 'zod'
import {
  invalid,
  isObject,
  MINED_FILE,
  TASK_STATUSES,
  type Files,
  type JsonObject,
  type MinedTask,
  type Reference,
  type Task,
  type TaskRole,
} from '../contract/index.ts'
import { readTask, taskFile } from '../evolution/index.ts'
import {
  entriesBelow,
  hasCode,
  isAlive,
  isMissing,
  makeFolder,
  mkdirp,
  newId,
  sync,
  wordsOf,
  writeAtomicFile,
  writeSynced,
} from '../kit/index.ts'

export type TaskStatus = (typeof TASK_STATUSES)[number]

const checkSchema = z.object({
  at: z.string(),
  passed: z.boolean(),
  untouched: z.array(z.number().nullable()),
  empty: z.array(z.number().nullable()),
  reference: z.array(z.number().nullable()),
  seconds_max: z.number(),
  problems: z.array(z.string()),
  /** Why it cannot be tried without an agent. */
  untried: z.string().nullable().default(null),
})
export type CheckRecord = Readonly<z.infer<typeof checkSchema>>

const minedSchema = z.object({
  status: z.enum(TASK_STATUSES),
  origin: z.string(),
  module: z.string().default(''),
  about: z.custom<JsonObject>(isObject).default({}),
  removed: z.array(z.string()).default([]),
  has_reference: z.boolean().default(false),
  check: checkSchema.nullable().default(null),
})
export type MinedRecord = Readonly<z.infer<typeof minedSchema>>

export interface MinedFolder {
  readonly name: string
  /** Null for a task that a person wrote. */
  readonly mined: MinedRecord | null
}

/** What an agent says that solves the task. */
const ANSWER_FILE = 'reference.md'
/** Begins the names of folders that are not whole yet; readers of tasks pass over hidden ones. */
const UNFINISHED = '.unfinished-'

/** The folders of tasks, by name. None where there is no such directory. */
export async function readMined(directory: string): Promise<readonly MinedFolder[]> {
  const names = (await entriesOf(directory)).filter((name) => !name.startsWith('.')).sort()
  return Promise.all(names.map(async (name) => ({ name, mined: await recordOf(directory, name) })))
}

async function entriesOf(directory: string): Promise<readonly string[]> {
  const found = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  return found.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

/** Null where there is no `mined.yaml`: a person wrote the task. */
async function recordOf(directory: string, name: string): Promise<MinedRecord | null> {
  const text = await textIn(join(directory, name, MINED_FILE))
  if (text === null) return null
  const { data, error } = minedSchema.safeParse(yamlIn(name, text))
  if (data !== undefined) return data
  const [issue] = error.issues
  throw damaged(name, `${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'is refused'}`)
}

/** Null where there is no such file. */
const textIn = (path: string): Promise<string | null> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })

function yamlIn(name: string, text: string): unknown {
  try {
    return parse(text, { prettyErrors: false })
  } catch (error) {
    throw damaged(name, `it does not parse (${wordsOf(error)})`)
  }
}

const damaged = (name: string, problem: string): Error =>
  invalid('mined_invalid', `task ${name}: ${MINED_FILE}: ${problem}; correct it, or remove the folder`)

export interface MinedTaskRead {
  readonly task: Task
  readonly mined: MinedRecord | null
  readonly reference: Reference | null
}

/** Refuses a name that no folder has. */
export async function readMinedTask(directory: string, name: string): Promise<MinedTaskRead> {
  if (!(await entriesOf(directory)).includes(name) || name.startsWith('.'))
    throw invalid('no_task', `there is no task ${JSON.stringify(name)}; svc tasks list shows those that there are`)
  const mined = await recordOf(directory, name)
  const task = await readTask(directory, name)
  if (mined === null || !mined.has_reference) return { task, mined, reference: null }
  const answer = await textIn(join(directory, name, ANSWER_FILE))
  const files = await textsBelow(join(directory, name, 'reference'))
  return { task, mined, reference: { files, removed: mined.removed, ...(answer !== null && { answer }) } }
}

async function textsBelow(folder: string): Promise<Files> {
  const paths = (await entriesBelow(folder)).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const texts = paths.map(async (path) => [relative(folder, path).split(sep).join('/'), await readFile(path, 'utf8')] as const)
  return Object.fromEntries(await Promise.all(texts))
}

export interface Placement {
  readonly role: TaskRole
  readonly family: string
}

/** False where another process wrote the same task meanwhile. */
export async function writeMined(
  directory: string,
  found: MinedTask,
  { role, family }: Placement,
  { status, check }: Pick<MinedRecord, 'status' | 'check'>,
): Promise<boolean> {
  const { name, prompt, files = {}, dependencies, data, origin, about = {}, module, reference } = found
  const { verify_files: hidden, ...fields } = data
  const removed = [...(reference?.removed ?? [])]
  const mined: MinedRecord = { status, origin, module, about, removed, has_reference: reference !== undefined, check }
  const beside = join(directory, `${UNFINISHED}${process.pid}-${newId()}`)
  try {
    await makeFolder(beside)
    await writeFiles(beside, {
      'task.yaml': stringify({ role, family, ...(dependencies && { dependencies }), ...fields }),
      'instruction.md': `${prompt}\n`,
      [MINED_FILE]: recordText(mined),
      ...under('workspace', files),
      ...(isObject(hidden) ? textsIn(hidden) : {}),
      ...under('reference', reference?.files ?? {}),
      ...(reference?.answer !== undefined && { [ANSWER_FILE]: reference.answer }),
    })
    await rename(beside, join(directory, name))
  } catch (error) {
    await rm(beside, { recursive: true, force: true })
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST')) return false
    throw error
  }
  await sync(directory)
  return true
}

const under = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]))

const textsIn = (files: JsonObject): Files =>
  Object.fromEntries(Object.entries(files).flatMap(([path, text]) => (typeof text === 'string' ? [[path, text]] : [])))

/** New files and folders, synced before the folder gets its name. */
async function writeFiles(folder: string, files: Files): Promise<void> {
  const folders = new Set<string>([folder])
  for (const [path, text] of Object.entries(files)) {
    const place = dirname(join(folder, path))
    await mkdirp(place)
    for (let each = place; each.length > folder.length; each = dirname(each)) folders.add(each)
    await writeSynced(join(folder, path), text)
  }
  for (const each of folders) await sync(each)
}

const HEAD = '# Where this task comes from, and whether it is used: proposed, accepted or dropped. svc tasks writes it.\n'
const recordText = (mined: MinedRecord): string => HEAD + stringify(mined)

/** Keeps a person's decision. */
export async function decide(directory: string, name: string, status: TaskStatus): Promise<MinedRecord> {
  const { mined } = await readMinedTask(directory, name)
  if (mined === null)
    throw invalid('not_mined', `task ${JSON.stringify(name)} was written by hand and is always used; move its folder away instead`)
  return update(directory, name, { ...mined, status })
}

/** Changes the role in the task's own file; what else it holds stays, comments too. */
export async function writeRole(directory: string, name: string, role: TaskRole): Promise<void> {
  const { path, text } = await taskFile(directory, name)
  if (path.endsWith('.toml'))
    throw invalid('task_invalid', `task ${JSON.stringify(name)} is a Harbor task, which has no role; add a task.yaml`)
  const document = parseDocument(text)
  document.set('role', role)
  await writeAtomicFile(path, path.endsWith('.json') ? `${JSON.stringify(document.toJS(), null, 2)}\n` : document.toString())
}

/** Of a task written by hand nothing is kept. */
export async function recordCheck(directory: string, name: string, check: CheckRecord): Promise<void> {
  // Read again: a person may have decided while the check ran.
  const mined = await recordOf(directory, name)
  if (mined !== null) await update(directory, name, { ...mined, check })
}

async function update(directory: string, name: string, mined: MinedRecord): Promise<MinedRecord> {
  await writeAtomicFile(join(directory, name, MINED_FILE), recordText(mined))
  return mined
}

/** A folder for a trial, beside the tasks and hidden like unfinished ones. */
export async function makeTrialFolder(directory: string): Promise<string> {
  const folder = join(directory, `${UNFINISHED}${process.pid}-${newId()}`)
  await mkdirp(folder, { mode: 0o700 })
  return folder
}

/** Removes what processes that are gone left unfinished. */
export async function removeUnfinished(directory: string): Promise<void> {
  for (const name of await entriesOf(directory)) {
    const [, pid] = /^\.unfinished-(\d+)-/.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(directory, name), { recursive: true, force: true })
  }
}
