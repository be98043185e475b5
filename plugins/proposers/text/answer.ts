/** Reads a model's answer as an admitted change, or says why it cannot be used. */
import type { Brief } from '../../../src/contract/index.ts'
import { mutationsOf, needsIn, replyIn, type Drafted } from '../../../src/evolution/index.ts'

const REASONS_SHOWN_MAX = 5

export function read(text: string, { entries, adapter, check }: Pick<Brief, 'entries' | 'adapter' | 'check'>): Drafted | string {
  const reply = replyIn(text)
  if (typeof reply === 'string') return reply
  const { mutations, dropped } = mutationsOf(reply, entries, adapter)
  if (mutations.length === 0) return `no entry can be used: ${dropped.slice(0, REASONS_SHOWN_MAX).join('; ')}`
  const refusal = check(mutations)
  if (refusal !== null) return refusal
  const { requires, refused } = needsIn(reply.requires)
  return { mutations, dropped, requires, refused, design: reply.design }
}
