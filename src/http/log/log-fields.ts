/** What the log says of a request: what a model counted, and why it failed. */
import { HEADER, isRefusal, type ExchangeSummary, type RefusalDetail } from '../../contract/index.ts'
import type { HttpContext } from '../context.ts'
import type { LogFields, TrafficServices } from '../services.ts'

/** A refusal is a code in the request's log line, with its cause when a disk, an upstream or a sign-in failed. Any other error is a bug, logged with its stack. */
export function logError({ services, id, logFields }: HttpContext<TrafficServices>, error: unknown): void {
  if (isRefusal(error)) {
    logFields.code = error.code
    const hasCause = error.kind === 'unavailable' || error.code === 'sign_in_failed'
    if (hasCause && error.cause instanceof Error) logFields.cause = error.cause.message
    if (error.kind === 'upstream') logUpstreamFailure(logFields, error.message, error.detail)
    return
  }
  logFields.code = 'internal_error'
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  services.log.write('error', 'failure', { id, stack })
}

/** The words of an upstream belong to the caller and are not logged; the reason why it did not answer is. */
function logUpstreamFailure(logFields: LogFields, message: string, { upstreamStatus, headers = {} }: RefusalDetail): void {
  logUpstreamId(logFields, headers)
  if (upstreamStatus === undefined) logFields.cause = message
  else logFields.upstream_status = upstreamStatus
}

/** The answer carries the upstream's request id in place of ours. The log has both, so that either finds the line. */
export function logUpstreamId(logFields: LogFields, headers: Readonly<Record<string, string>>): void {
  const id = headers[HEADER.requestId] ?? headers[HEADER.messagesRequestId]
  if (id !== undefined) logFields.upstream_id = id
}

/** What the model counted, and which of several upstreams it answered from. */
export function logSummary(logFields: LogFields, { input_tokens: input, output_tokens: output, upstream }: ExchangeSummary): void {
  if (upstream !== undefined) logFields.upstream = upstream
  if (input !== undefined) logFields.input_tokens = input
  if (output !== undefined) logFields.output_tokens = output
}
