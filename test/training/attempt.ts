/** One step of a scripted trainer, and its possible verdicts. */
import type { StepOutcome } from '../../src/contract/index.ts'

export const VERDICTS = ['publish', 'hold', 'reject', 'skip', 'throw', 'same', 'escape'] as const
export type Verdict = (typeof VERDICTS)[number]

/** The row of each verdict. */
export const OUTCOME: Readonly<Record<Verdict, StepOutcome>> = {
  publish: 'published',
  hold: 'pending',
  reject: 'rejected',
  skip: 'skipped',
  throw: 'failed',
  same: 'skipped',
  escape: 'failed',
}

export interface Attempt {
  readonly base: string
  readonly request: string | null
  readonly units: readonly (readonly string[])[]
  /** How often in a row this batch was worked on to the end without a row. */
  readonly ends: number
  verdict: Verdict | null
}

export const batchOf = ({ request, units }: Attempt) => ({ request, units })

/** The lines it adds to its component's ledger. */
export function linesOf({ units, request }: Attempt): string {
  const lines = units.map((ids) => `unit ${ids.join(' ')}\n`)
  return [...lines, ...(request === null ? [] : [`request ${request}\n`])].join('')
}
