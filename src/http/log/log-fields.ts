/** What the log says of a request: what a model counted, and why it failed. */
import { HEADER, isRefusal, type ExchangeSummary, type Refusal } from '../../contract/index.ts'
import type { HttpContext } from '../context.ts'
import type { LogFields, TrafficServices } from '../services.ts'

/** A refusal is a code in the request's log line, with its cause when a disk, an upstream or a sign-in failed. Any other error is a bug, logged with its stack. */
export async function logError(context: HttpContext<TrafficServices>, error: unknown): Promise<void> {
  const { services, id, logFields } = context
  if (isRefusal(error)) {
    if (error.kind === 'upstream') return logUpstreamFailure(context, error)
    logFields.code = error.code
    const hasCause = error.kind === 'unavailable' || error.code === 'sign_in_failed'
    if (hasCause && error.cause instanceof Error) logFields.cause = error.cause.message
    return
  }
  logFields.code = 'internal_error'
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  services.log.write('error', 'failure', { id, stack })
}

/** The words of an upstream belong to the caller and are not logged; the reason why it did not answer is. Where it did, the code is a word of its own. */
async function logUpstreamFailure(context: HttpContext<TrafficServices>, { code, message, detail }: Refusal): Promise<void> {
  const { upstreamStatus, headers = {} } = detail
  const { logFields } = context
  if (upstreamStatus === undefined) {
    logFields.code = code
    const cause = await loggedOf(context, message)
    if (cause !== null) logFields.cause = cause
    return
  }
  logFields.upstream_status = upstreamStatus
  logFields.code = (await loggedOf(context, code)) ?? 'upstream_refused'
  await logUpstreamId(context, headers)
}

/** The answer carries the upstream's request id in place of ours. The log has both, so that either finds the line. */
export async function logUpstreamId(context: HttpContext<TrafficServices>, headers: Readonly<Record<string, string>>): Promise<void> {
  const id = headers[HEADER.requestId] ?? headers[HEADER.messagesRequestId]
  const logged = id === undefined ? null : await loggedOf(context, id)
  if (logged !== null) context.logFields.upstream_id = logged
}

/** Words that an upstream chose may repeat what was said to it: they are logged as far as the exchange is recorded. */
const loggedOf = ({ services, recording }: HttpContext<TrafficServices>, words: string): Promise<string | null> =>
  services.recorder.loggedWords(recording, words)

/** What the model counted, and which of several upstreams it answered from. */
export function logSummary(logFields: LogFields, { input_tokens: input, output_tokens: output, upstream }: ExchangeSummary): void {
  if (upstream !== undefined) logFields.upstream = upstream
  if (input !== undefined) logFields.input_tokens = input
  if (output !== undefined) logFields.output_tokens = output
}
