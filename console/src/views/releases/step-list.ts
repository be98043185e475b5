/** The files of a step's record, as the service lists them. Pure. */
import { isRecord, listAt, textAt } from '../../../../src/presentation/index.ts'

export interface RecordFile {
  readonly path: string
  readonly bytes: number
}

/** Files of the whole step come first, then its episodes in the order of their numbers. */
export function listedIn(answer: string): { readonly status: string; readonly files: readonly RecordFile[] } {
  const value: unknown = JSON.parse(answer)
  const data = isRecord(value) ? value : {}
  const files = listAt(data, 'files')
    .filter(isRecord)
    .flatMap((file) => {
      const path = textAt(file, 'path')
      return path === null ? [] : [{ path, bytes: Number(file['bytes'] ?? 0) }]
    })
  return { status: textAt(data, 'status') ?? '', files: files.toSorted(byDepth) }
}

const depthOf = ({ path }: RecordFile): number => path.split('/').length

const byDepth = (one: RecordFile, other: RecordFile): number =>
  depthOf(one) - depthOf(other) || one.path.localeCompare(other.path, 'en', { numeric: true })

export function textIn(answer: string): string {
  const value: unknown = JSON.parse(answer)
  return isRecord(value) ? (textAt(value, 'text') ?? '') : ''
}

/** Why there is nothing to read. */
export const EMPTY_WORDS: Readonly<Record<string, string>> = {
  not_recorded: 'This step has no record: it is no training step, or it wrote nothing.',
  disabled: 'This recipe keeps no records of its steps. Set evolution.step_record_dir to keep those to come.',
  missing: 'The record of this step was removed: the oldest go first when evolution.step_record_bytes is reached.',
}
