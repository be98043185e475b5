/** The formats by name. Counting tokens is never streamed, so it has none. */
import type { Dialect } from '../../contract/index.ts'
import { chat } from './chat.ts'
import type { StreamDialect } from './dialect.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'

export const streamDialects: Readonly<Record<Dialect, StreamDialect | null>> = { chat, responses, messages, count_tokens: null }
export type { StreamReader } from './dialect.ts'
