/** What the log is told of a request that failed. */
import { isRefusal } from '../contract/index.ts'
import type { Door, Visit } from './door.ts'

/** A refusal is the caller's to mend and one word in the request's line, with its cause when a disk failed; anything else is ours, with its stack. */
export function noteError(door: Door, { id, note }: Pick<Visit, 'id' | 'note'>, error: unknown): void {
  if (isRefusal(error)) {
    note.code = error.code
    if (error.kind === 'unavailable' && error.cause instanceof Error) note.cause = error.cause.message
    return
  }
  note.code = 'internal_error'
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  door.log.write('error', 'failure', { id, stack })
}
