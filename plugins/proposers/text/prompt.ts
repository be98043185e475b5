/** The prompt: rules, the step's situation, and the answer's format. */
import type { Brief, ChatMessage } from '../../../src/contract/index.ts'
import {
  describeReply,
  DESIGN_BRIEF,
  fence,
  groundRules,
  replyIn,
  REQUIRES_GUIDE,
  situation,
  SMALL_CHANGE,
} from '../../../src/evolution/index.ts'

const REPLY_SHOWN_CHARACTERS = 2000

const FORMAT = [
  'Your answer is one JSON array of entries. Its first element is {"design": "…"}, in which you say what you change and why.',
  'Then one {"id", "name", "config"} for each entry to create or to replace, and {"id", "remove": true} for each to take away.',
].join(' ')

export function messagesOf(brief: Brief, plan: readonly string[] | null): readonly ChatMessage[] {
  const isAsked = brief.request !== null
  const system = [groundRules(brief), FORMAT, ...(isAsked ? [REQUIRES_GUIDE, 'The last element may be {"requires": […]}.'] : [])].join(
    '\n\n',
  )
  const steps = plan === null ? [] : [`Steps that an earlier look found, to check your work by:\n${fence('plan', plan.join('\n'))}`]
  const content = [situation(brief), ...steps, isAsked ? DESIGN_BRIEF : SMALL_CHANGE].join('\n\n')
  return [
    { role: 'system', content: system },
    { role: 'user', content },
  ]
}

/** The excerpt of an answer, and what is wrong with it. */
export function againOf(text: string, reason: string): readonly ChatMessage[] {
  const reply = replyIn(text)
  const shown = typeof reply === 'string' ? text.slice(0, REPLY_SHOWN_CHARACTERS).toWellFormed() : describeReply(reply)
  return [
    { role: 'assistant', content: shown.trim() === '' ? '(nothing)' : shown },
    {
      role: 'user',
      content: `${fence('reason', reason)}\n\nThat is why this answer is not enough. Answer again, with the whole JSON array, mended.`,
    },
  ]
}
