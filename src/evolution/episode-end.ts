/** How an episode ended: whose trouble it was that has no score, and the words for it. */
import { isRefusal, type Episode } from '../contract/index.ts'
import { wordsOf } from '../kit/index.ts'

export type Trouble = 'machine' | 'model' | 'evaluator'

/** Codes by which an executor says that the machine is to blame; an evaluator may run commands with it too. */
const MACHINE_CODES: ReadonlySet<string> = new Set(['no_sandbox', 'no_room', 'no_process', 'episode_folder', 'episode_processes'])

export function isMachines(error: unknown, isScoring: boolean): boolean {
  return isRefusal(error) && error.kind === 'unavailable' && (!isScoring || MACHINE_CODES.has(error.code))
}

/** A program that never started is without a score too, and another try would not start it. */
export function troubleOf({ modelFailure, ended }: Episode, score: number | null): Trouble | null {
  if (modelFailure !== undefined) return 'model'
  return score === null && ended !== 'start' ? 'evaluator' : null
}

export function failureOf({ modelFailure, ended, exitCode, stderr }: Episode, score: number | null): string | null {
  if (modelFailure !== undefined) return `the model failed: ${wordsOf(modelFailure)}`
  if (ended !== undefined) return ENDED[ended]
  if (exitCode !== 0) return `exit code ${exitCode}: ${wordsOf(stderr.trimEnd().split('\n').at(-1) ?? '')}`
  return score === null ? 'the evaluator gave no score' : null
}

const ENDED: Readonly<Record<NonNullable<Episode['ended']>, string>> = {
  start: 'the program could not be started',
  time: 'it took too long and was ended',
  memory: 'it used too much memory and was ended',
  processes: 'it started too many processes and was ended',
  disk: 'it wrote too much and was ended',
  files: 'it made too many files and was ended',
  output: 'it printed too much and was ended',
}
