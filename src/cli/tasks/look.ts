/** `svc tasks list` and `svc tasks show`. */
import { resolve } from 'node:path'
import { isObject, type Task } from '../../contract/index.ts'
import { listedTask, readMined, readMinedTask } from '../../mining/index.ts'
import { printError } from '../explain.ts'
import { table, type Cell, type TableColumn } from '../screen/table.ts'
import { jsonText, oneLine, shellWord, shownLines, type Tone } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import { placeOf, TASKS_FOLDER } from './place.ts'

export interface LookOptions {
  readonly folder?: string
  readonly json?: boolean
}

type ReadTask = Awaited<ReturnType<typeof readMinedTask>>

const COLUMNS: readonly TableColumn[] = [
  { title: 'TASK', least: 16 },
  { title: 'ROLE' },
  { title: 'FAMILY', least: 8 },
  { title: 'STATUS' },
  { title: 'CHECK', least: 12 },
]

export async function list({ folder = TASKS_FOLDER, json }: LookOptions, surroundings: Surroundings): Promise<number> {
  try {
    const directory = resolve(folder)
    const read: ReadTask[] = []
    for (const { name } of await readMined(directory)) read.push(await readMinedTask(directory, name))
    if (json === true) surroundings.out(jsonText(read.map(plain), 2))
    else if (read.length === 0) surroundings.out(`no tasks in ${shellWord(folder)}; find some: svc tasks mine . -o ${shellWord(folder)}`)
    else surroundings.out(table(COLUMNS, read.map(cellsOf), surroundings))
    return EXIT.fine
  } catch (error) {
    printError(error, null, surroundings)
    return EXIT.misconfigured
  }
}

const HAND = 'by hand'
const TONES: Readonly<Record<string, Tone>> = { accepted: 'good', dropped: 'quiet', proposed: 'warning' }

function cellsOf({ task, mined }: ReadTask): readonly Cell[] {
  const status = mined?.status ?? HAND
  const tone = TONES[status]
  return [oneLine(task.name), task.role, task.family ?? '', tone === undefined ? status : { text: status, tone }, checkOf(mined)]
}

function checkOf(mined: ReadTask['mined']): string {
  if (mined === null || mined.check === null) return ''
  if (mined.check.untried !== null) return `not tried: ${oneLine(mined.check.untried)}`
  return mined.check.passed ? 'holds' : oneLine(mined.check.problems.join('; '))
}

function plain(read: ReadTask) {
  const { problem: _problem, ...listed } = listedTask(read)
  return { ...listed, about: read.mined?.about ?? null, check: read.mined?.check ?? null }
}

export async function show({ folder = '', json }: LookOptions, surroundings: Surroundings): Promise<number> {
  try {
    const { directory, name } = placeOf(folder)
    const read = await readMinedTask(directory, name)
    const { task, reference } = read
    surroundings.out(json === true ? jsonText({ ...plain(read), prompt: task.prompt, files: pathsOf(task), reference }, 2) : page(read))
    return EXIT.fine
  } catch (error) {
    printError(error, null, surroundings)
    return EXIT.misconfigured
  }
}

const pathsOf = ({ files = {}, data = {} }: Task) => ({
  workspace: Object.keys(files),
  verify: isObject(data['verify_files']) ? Object.keys(data['verify_files']) : [],
})

function page(read: ReadTask): string {
  const { task, mined, reference } = read
  const { workspace, verify } = pathsOf(task)
  const rows: readonly (readonly [string, string])[] = [
    ['role', task.role],
    ['family', task.family ?? task.name],
    ['status', mined?.status ?? HAND],
    ...Object.entries(mined?.about ?? {}).map(([field, value]): readonly [string, string] => [
      field,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
    ['workspace', `${workspace.length} files`],
    ['verifier', verify.join(', ')],
    ['reference', referenceWords(reference)],
    ['check', checkOf(mined)],
  ]
  const lines = rows.filter(([, value]) => value !== '').map(([field, value]) => `${oneLine(field).padEnd(FIELD_WIDTH)}${oneLine(value)}`)
  return [oneLine(task.name), ...lines, '', shownLines(task.prompt)].join('\n')
}
const FIELD_WIDTH = 11

const referenceWords = (reference: ReadTask['reference']): string =>
  [
    ...Object.keys(reference?.files ?? {}),
    ...(reference?.removed ?? []).map((path) => `${path} (removed)`),
    ...(reference?.answer === undefined ? [] : [`answer: ${reference.answer}`]),
  ].join(', ')
