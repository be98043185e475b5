/** A failed request as one line with what to do. */
import { ServiceFailure } from '@svc-ai/client'

export interface FailureNotice {
  readonly line: string
  /** The token is not, or no longer, accepted. */
  readonly isSignedOut: boolean
  readonly status: number | null
}

export const noticeOf = (line: string, status: number | null = null): FailureNotice => ({ line, isSignedOut: false, status })

/** While a request is still open. */
export const NO_ANSWER_YET = noticeOf('The service is slow to answer: it is busy or stuck, or the answer is large. This page retries.')

export function saidOf(error: unknown): FailureNotice {
  if (!(error instanceof ServiceFailure)) return noticeOf('The console failed. Reload the page.')
  const { status, code, message } = error
  // A token that is one, and may not do this, stays in use.
  if (status === 401 && code !== 'role_forbids' && code !== 'other_scenario')
    return { line: 'The service does not accept this token. Type one that svc.token or svc.tokens lists.', isSignedOut: true, status }
  return noticeOf(code === 'unreachable' ? 'The service does not answer. Start it with svc serve; this page reconnects.' : message, status)
}
