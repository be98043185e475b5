/**
 * Text: the served model writes entries as one JSON array, from failing exchanges or a person's request, and is asked again when its answer
 * cannot be used. Does not play anything.
 */
import { define, unavailable, isObject } from '../../../src/contract/index.ts'
import type { Brief, ChatMessage, Model, Proposal, Json } from '../../../src/contract/index.ts'
import {
  failureOf,
  lostModel,
  mutationsOf,
  needsIn,
  proposalOf,
  replyIn,
  review,
  type Drafted,
  type Proposed,
  groundRules,
  objectIn,
  situation,
  describeReply,
  DESIGN_BRIEF,
  REQUIRES_GUIDE,
  SMALL_CHANGE,
} from '../../../src/evolution/index.ts'
import { asData, fence } from '../../../src/kit/index.ts'

const REPLY_SHOWN_CHARACTERS = 2000

const FORMAT = [
  'Your answer is one JSON array of entries. Its first element is {"design": "…"}, in which you say what you change and why.',
  'Then one {"id", "name", "config"} for each entry to create or to replace, and {"id", "remove": true} for each to take away.',
].join(' ')

const OPTIONS = { tokensMax: 4096, timeoutSeconds: 60 }
const STEPS_MAX = 20
const STEP_CHARACTERS_MAX = 300

const TASK = [
  'Do not write any entry yet. List the steps of what the person asks for, and for each whether it needs a tool or a right that the harness lacks.',
  'Answer with one JSON object and nothing else: {"steps": [{"step": "…", "needs": "…" or null}]}.',
].join('\n')

const ANSWERS_MAX = 3
const REASONS_SHOWN_MAX = 5
/** A person's request may need whole programs. */
const REQUEST_OPTIONS = { tokensMax: 65_536, timeoutSeconds: 600 }
const TRAFFIC_OPTIONS = { tokensMax: 8192, timeoutSeconds: 120 }

export default define('proposer', {
  acceptsRequests: true,

  async propose(brief) {
    if (brief.request === null && brief.samples.length === 0) return null
    const { served } = brief.models
    if (served === undefined) throw unavailable('no_model', 'the text proposer asks the model `served`, and the step has none')
    const plan = brief.request === null ? null : await planOf(brief, served)
    return write(brief, served, messagesOf(brief, plan))
  },
})

/** Asks for up to three answers and keeps the one with the fewest open points, also when a later call fails. */
async function write(brief: Brief, model: Model, asked: readonly ChatMessage[]): Promise<Proposal> {
  const messages = [...asked]
  let kept: Proposed | null = null
  let problem = ''
  for (let attempts = 1; attempts <= ANSWERS_MAX; attempts += 1) {
    const text = await answer(brief, model, messages)
    if (typeof text !== 'string') return kept === null ? lostModel(brief, text.error) : proposalOf(brief, kept)
    const found = read(text, brief)
    if (typeof found === 'string') {
      problem = found
      brief.report.line('check', `an answer cannot be used and is asked for again: ${found}`, true)
      messages.push(...againOf(text, found))
      continue
    }
    const seen: Proposed = {
      ...found,
      attempts,
      review: await review(model, brief, found),
    }
    kept = kept === null || openPoints(seen) < openPoints(kept) ? seen : kept
    const open = uncovered(seen)
    if (open.length === 0) break
    messages.push(...againOf(text, `these points of the request are still open: ${open.join(' | ')}`))
  }
  return kept === null ? failureOf(`no usable answer after ${ANSWERS_MAX}: ${problem}`) : proposalOf(brief, kept)
}

async function answer(
  { request, signal }: Brief,
  model: Model,
  messages: readonly ChatMessage[],
): Promise<string | { readonly error: unknown }> {
  try {
    return await model.chat(messages, request === null ? TRAFFIC_OPTIONS : REQUEST_OPTIONS)
  } catch (error) {
    signal.throwIfAborted()
    return { error }
  }
}

const uncovered = ({ review: seen }: Proposed): readonly string[] => (seen === null || typeof seen === 'string' ? [] : seen.uncovered)

/** An answer without a review is the last choice. */
const openPoints = (proposed: Proposed): number => (typeof proposed.review === 'string' ? Infinity : uncovered(proposed).length)

/** Reads a model's answer as an admitted change, or says why it cannot be used. */
function read(text: string, { entries, adapter, check }: Pick<Brief, 'entries' | 'adapter' | 'check'>): Drafted | string {
  const reply = replyIn(text)
  if (typeof reply === 'string') return reply
  const { mutations, dropped } = mutationsOf(reply, entries, adapter)
  if (mutations.length === 0) return `no entry can be used: ${dropped.slice(0, REASONS_SHOWN_MAX).join('; ')}`
  const refusal = check(mutations)
  if (refusal !== null) return refusal
  const { requires, refused } = needsIn(reply.requires)
  return { mutations, dropped, requires, refused, design: reply.design }
}

/** Null when there is no plan: the request alone is enough. */
async function planOf(brief: Brief, model: Model): Promise<readonly string[] | null> {
  try {
    const messages = [
      { role: 'system', content: groundRules(brief) },
      { role: 'user', content: `${situation(brief)}\n\n${TASK}` },
    ] as const
    const planned = objectIn(await model.chat(messages, OPTIONS))
    const steps = typeof planned === 'string' ? [] : stepsOf(planned['steps'])
    return steps.length === 0 ? null : steps
  } catch {
    brief.signal.throwIfAborted()
    return null
  }
}

function stepsOf(value: Json | undefined): readonly string[] {
  const steps = Array.isArray(value) ? value.filter(isObject) : []
  return steps.slice(0, STEPS_MAX).flatMap(({ step, needs }) => {
    if (typeof step !== 'string') return []
    return [(typeof needs === 'string' && needs !== '' ? `${step} (needs ${needs})` : step).slice(0, STEP_CHARACTERS_MAX).toWellFormed()]
  })
}

/** The prompt: rules, the step's situation, and the answer's format. */
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
function againOf(text: string, reason: string): readonly ChatMessage[] {
  const reply = replyIn(text)
  const shown = asData(typeof reply === 'string' ? text : describeReply(reply), REPLY_SHOWN_CHARACTERS)
  return [
    { role: 'assistant', content: shown.trim() === '' ? '(nothing)' : shown },
    {
      role: 'user',
      content: `${fence('reason', reason)}\n\nThat is why this answer is not enough. Answer again, with the whole JSON array, fixed.`,
    },
  ]
}
