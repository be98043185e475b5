/** What a failed question is to a person: one line, and what to do. */
import { ServiceFailure } from '@svc-ai/client'

export interface Said {
  readonly line: string
  /** The token is not, or no longer, accepted. */
  readonly isSignedOut: boolean
  readonly status: number | null
}

/** While a question is still open. */
export const NO_ANSWER_YET: Said = {
  line: 'The service takes long to answer: it is busy or stuck, or the answer is large. This page goes on by itself.',
  isSignedOut: false,
  status: null,
}

export function saidOf(error: unknown): Said {
  if (!(error instanceof ServiceFailure))
    return { line: 'The console met a problem of its own. Load the page again.', isSignedOut: false, status: null }
  const { status, code, message } = error
  if (status === 401)
    return { line: 'The service does not accept this token. Type one that svc.token or svc.tokens lists.', isSignedOut: true, status }
  if (code === 'unreachable')
    return { line: 'The service does not answer. Start it again with svc serve; this page goes on by itself.', isSignedOut: false, status }
  return { line: message, isSignedOut: false, status }
}
