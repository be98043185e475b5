/** Logs how writing to the store stands. */
import type { Refusal } from '../contract/index.ts'
import type { Log } from '../http/index.ts'
import { wordsOf } from '../kit/index.ts'

export function logWriting(log: Log, trouble: Refusal | null): void {
  if (trouble === null) return log.write('info', 'store_writable', {})
  log.write('error', 'store_unwritable', { code: trouble.code, message: trouble.message, ...causeOf(trouble) })
}

const causeOf = ({ detail: { cause } }: Refusal): { readonly cause?: string } => (cause === undefined ? {} : { cause: wordsOf(cause) })
