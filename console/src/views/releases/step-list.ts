/** The list of what a step left behind, and one of its files, as the service answers them. Pure. */
import { isData, listAt, textAt } from '../../data/json.ts'

export interface StepFile {
  readonly path: string
  readonly bytes: number
}

/** What tells of the whole step comes first, then its episodes in the order of their numbers. */
export function listedIn(answer: string): { readonly status: string; readonly files: readonly StepFile[] } {
  const value: unknown = JSON.parse(answer)
  const data = isData(value) ? value : {}
  const files = listAt(data, 'files')
    .filter(isData)
    .flatMap((file) => {
      const path = textAt(file, 'path')
      return path === null ? [] : [{ path, bytes: Number(file['bytes'] ?? 0) }]
    })
  return { status: textAt(data, 'status') ?? '', files: files.toSorted(byDepth) }
}

const depthOf = ({ path }: StepFile): number => path.split('/').length

const byDepth = (one: StepFile, other: StepFile): number =>
  depthOf(one) - depthOf(other) || one.path.localeCompare(other.path, 'en', { numeric: true })

export function textIn(answer: string): string {
  const value: unknown = JSON.parse(answer)
  return isData(value) ? (textAt(value, 'text') ?? '') : ''
}

/** Why there is nothing to read. */
export const EMPTY_WORDS: Readonly<Record<string, string>> = {
  not_recorded: 'Nothing was kept of this step: it is no training step, or it left nothing.',
  disabled: 'This recipe keeps no records of its steps. Set evolution.step_record_dir to keep those to come.',
  missing: 'The record of this step is gone: older ones go first when evolution.step_record_bytes is reached.',
}
