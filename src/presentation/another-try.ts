/** Asking for another try of a change that came to nothing: which it was, why it failed, and what was asked for at first. */
import { TRAIN_TEXT_CHARACTERS_MAX } from '../contract/limits.ts'
import type { StepRow, StepRows } from './chain.ts'
import { objectAt, textAt } from './read.ts'
import { decisionOf, rejectionReason } from './why.ts'

/** What a new request says before a person's own words; null where there is nothing to try again. */
export function anotherTry(rows: StepRows, row: StepRow): string | null {
  const rejection = rejectionReason(rows, row)
  if (rejection !== null) return `Another try at release ${row.release_id}, which a person rejected. The reason: ${rejection.reason}`
  const isAsked = requestWords(row) !== null
  if (!isAsked || (row.result !== 'rejected' && row.result !== 'failed')) return null
  const decision = decisionOf(row.metrics)
  return `Another try at a change that ${row.result === 'failed' ? 'failed' : 'was not selected'}.${decision === null ? '' : ` The reason: ${decision}`}`
}

/** The whole request. The words of the first one give way where it is too long. */
export function anotherTryText(about: string, said: string, row: StepRow): string {
  const asked = requestWords(row)
  const first = said.trim() === '' ? about : `${about}\n\n${said.trim()}`
  const whole = asked === null ? first : `${first}\n\nIt was asked for in these words: ${asked}`
  return Array.from(whole).slice(0, TRAIN_TEXT_CHARACTERS_MAX).join('')
}

const requestWords = ({ metrics }: StepRow): string | null => textAt(objectAt(metrics, 'training_request'), 'text')
