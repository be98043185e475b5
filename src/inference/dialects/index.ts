/** The three formats by name. Counting tokens is never streamed, so it has no reader. */
import type { Dialect } from '../../contract/index.ts'
import { chat } from './chat.ts'
import type { StreamDialect } from './dialect.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'

export const streamDialects: Readonly<Record<Exclude<Dialect, 'count_tokens'>, StreamDialect>> = { chat, responses, messages }
export type { StreamReader } from './dialect.ts'
