/** What the two formats of OpenAI have in common. */
import { errorIn, errorType, flatRequest, type DialectSpec } from './dialect.ts'
import { filledText } from './values.ts'

export const OPENAI_HEADERS: readonly string[] = ['openai-organization', 'openai-project', 'openai-beta']

export const openai = {
  ...flatRequest,
  provider: 'openai',
  operation: 'chat',
  requestIdHeader: 'x-request-id',
  defaultHeaders: {},
  keyHeaders: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  writeError: (status, { message, type = errorType(status), param, code = null }) => ({
    error: { message, type, ...(param !== undefined && { param }), code },
  }),
  isError(said) {
    const error = errorIn(said)
    return error !== null && (filledText(error['type']) !== null || filledText(error['code']) !== null || typeof error['code'] === 'number')
  },
} satisfies Partial<DialectSpec>
