/** What the two formats of OpenAI have in common. */
import type { JsonObject } from '../contract/index.ts'
import { textOf } from './values.ts'
import { errorIn, errorType, flatSettings, isText, type DialectSpec, type ErrorFields } from './dialect.ts'

type Common =
  | 'facts'
  | 'settingsIn'
  | 'modelIn'
  | 'isStreamed'
  | 'provider'
  | 'operation'
  | 'requestIdHeader'
  | 'keyHeaders'
  | 'defaultHeaders'
  | 'writeError'
  | 'isError'

export const openai: Pick<DialectSpec, Common> = {
  ...flatSettings,
  provider: 'openai',
  operation: 'chat',
  requestIdHeader: 'x-request-id',
  defaultHeaders: {},
  keyHeaders: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  writeError: (status, { message, type = errorType(status), param, code = null }: ErrorFields) => ({
    error: { message, type, ...(param !== undefined && { param }), code },
  }),
  modelIn: (_path, { model }) => textOf(model),
  isStreamed: (_path, { stream }) => stream === true,
  isError(said: JsonObject) {
    const error = errorIn(said)
    return error !== null && (isText(error['type']) || isText(error['code']) || typeof error['code'] === 'number')
  },
}
