/** What the log is told of a request that failed. */
import { HEADER, isRefusal, type RefusalDetail } from '../contract/index.ts'
import type { Door, Visit } from './door.ts'

/** A refusal is one word in the request's line, with its cause when a disk or an upstream failed; anything else is ours, with its stack. */
export function noteError(door: Door, { id, note }: Pick<Visit, 'id' | 'note'>, error: unknown): void {
  if (isRefusal(error)) {
    note.code = error.code
    if (error.kind === 'unavailable' && error.cause instanceof Error) note.cause = error.cause.message
    if (error.kind === 'upstream') noteFailure(note, error.message, error.detail)
    return
  }
  note.code = 'internal_error'
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  door.log.write('error', 'failure', { id, stack })
}

/** What an upstream said is the caller's and may hold anything; what kept us from hearing it is the operator's. */
function noteFailure(note: Visit['note'], message: string, { upstreamStatus, headers = {} }: RefusalDetail): void {
  noteUpstream(note, headers)
  if (upstreamStatus === undefined) note.cause = message
  else note.upstream_status = upstreamStatus
}

/** The upstream's own request id stands in the answer where ours would; the log has both, so that either finds the line. */
export function noteUpstream(note: Visit['note'], headers: Readonly<Record<string, string>>): void {
  const id = headers[HEADER.requestId] ?? headers[HEADER.messagesRequestId]
  if (id !== undefined) note.upstream_id = id
}
