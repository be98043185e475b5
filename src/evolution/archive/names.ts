/** How step records and their files are named, and what of them is shown. */
import { invalid } from '../../contract/index.ts'

export const STEP_FILE_BYTES_MAX = 4 * 1024 * 1024
export const STEP_LISTED_ENTRIES_MAX = 1000
const ATTEMPTS_MAX = 1000

const RECORD_FOLDER = /^(\d+)(?:-(\d+))?$/
export const SHOWN = /\.jsonl?$/
/** The names that steps give their records. */
export const RECORD = /^[A-Za-z0-9][A-Za-z0-9._-]*\/\d+(?:-\d+)?$/

/** Of a step and of each further attempt at it. */
export const namesOf = (step: number): readonly string[] =>
  Array.from({ length: ATTEMPTS_MAX }, (_, at) => (at === 0 ? String(step) : `${step}-${at + 1}`))

export const tooManyAttempts = (step: number): Error => new Error(`step ${step} was tried more than ${ATTEMPTS_MAX} times`)

/** Those of step records, newest first. */
export function newestNames(names: readonly string[]): readonly string[] {
  const records = names.flatMap((name) => {
    const [, step, attempt = '1'] = RECORD_FOLDER.exec(name) ?? []
    return step === undefined ? [] : [{ name, step: Number(step), attempt: Number(attempt) }]
  })
  return records.sort((a, b) => b.step - a.step || b.attempt - a.attempt).map(({ name }) => name)
}

export function checkPath(path: string): void {
  const isPlain = !/[\\\0]/.test(path) && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  if (!isPlain) throw badPath()
}

export const badPath = (): Error => invalid('bad_path', 'path: must be one of the listed files, spelt as it is listed')

export const tooMany = (): Error =>
  invalid(
    'step_files_limit',
    `the record of this step holds more than ${STEP_LISTED_ENTRIES_MAX} files and folders; look at it where it is kept`,
  )

export const tooLarge = (): Error =>
  invalid('step_files_limit', `path: the file holds more than ${STEP_FILE_BYTES_MAX} bytes; look at it where it is kept`)

/** Where the files of one step go. */
export interface RecordPlace {
  /** The name of the step's folder. */
  readonly own: string
  /** A new file. */
  put(path: string, text: string): Promise<void>
  /** Keeps the step records of a scenario within a size: removes the oldest until the rest fits. This one always stays. */
  prune(bytesMax: number): Promise<void>
}
