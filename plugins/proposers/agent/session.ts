/** Runs the agent turn by turn until it calls finish or reaches its limits. */
import type { Brief, ChatCall, ChatMessage, Model } from '../../../src/contract/index.ts'
import type { Drafted } from '../../../src/evolution/index.ts'
import { orAborted } from '../../../src/kit/index.ts'
import { messagesOf } from './prompt.ts'
import { openTools, TOOLS, type Toolbox } from './tools.ts'
import { openWorkspace } from './workspace.ts'

export interface SessionLimits {
  readonly turnsMax: number
  readonly seconds: number
}

export interface AgentSession {
  /** The last admitted change. */
  readonly checked: Drafted | null
  /** Why the session ended early; null when the agent finished. */
  readonly problem: string | null
  /** The model's error, when that ended it. */
  readonly failure?: unknown
}

const TURN_TOKENS_MAX = 32_768
const TURN_SECONDS_MAX = 600
const IDLE_TURNS_MAX = 3
const CALLS_PER_TURN_MAX = 16
/** Beyond this, the oldest tool results are left out. */
const CONVERSATION_CHARACTERS_MAX = 400_000

export async function work(brief: Brief, model: Model, limits: SessionLimits): Promise<AgentSession> {
  const tools = openTools(brief, openWorkspace(brief))
  const limit = AbortSignal.timeout(limits.seconds * 1000)
  const over = AbortSignal.any([brief.signal, limit])
  try {
    const problem = await converse(tools, model, [...messagesOf(brief)], limits, over)
    return { checked: tools.checked, problem }
  } catch (failure) {
    brief.signal.throwIfAborted()
    const { checked } = tools
    return limit.aborted
      ? { checked, problem: `not done after ${limits.seconds} s` }
      : { checked, problem: 'the model call failed', failure }
  }
}

async function converse(
  tools: Toolbox,
  model: Model,
  messages: ChatMessage[],
  { turnsMax }: SessionLimits,
  over: AbortSignal,
): Promise<string | null> {
  let idle = 0
  for (let turn = 1; turn <= turnsMax && !tools.isFinished; turn += 1) {
    over.throwIfAborted()
    const { text, calls } = await orAborted(
      model.turn(shortened(messages), TOOLS, { tokensMax: TURN_TOKENS_MAX, timeoutSeconds: TURN_SECONDS_MAX }),
      over,
    )
    messages.push({ role: 'assistant', content: text, calls })
    idle = calls.length === 0 ? idle + 1 : 0
    if (idle === IDLE_TURNS_MAX) return `the model called no tool ${IDLE_TURNS_MAX} times in a row`
    if (calls.length === 0) messages.push({ role: 'user', content: 'Go on with the tools. Call finish when the work is done.' })
    for (const [index, call] of calls.entries()) {
      messages.push({ role: 'tool', call_id: call.id, content: await orAborted(resultOf(tools, call, index), over) })
    }
  }
  return tools.isFinished ? null : `not done after ${turnsMax} turns`
}

/** The agent sees a tool's failure: a trial cannot always be played. */
async function resultOf(tools: Toolbox, call: ChatCall, index: number): Promise<string> {
  if (index >= CALLS_PER_TURN_MAX) return `not done: at most ${CALLS_PER_TURN_MAX} calls in one turn`
  try {
    return await tools.run(call)
  } catch (error) {
    return `it failed: ${error instanceof Error ? error.message : 'for an unknown reason'}`
  }
}

function shortened(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  let excess = messages.reduce((sum, { content }) => sum + content.length, 0) - CONVERSATION_CHARACTERS_MAX
  return messages.map((message) => {
    if (excess <= 0 || message.role !== 'tool') return message
    excess -= message.content.length
    return { ...message, content: '(left out: it was long ago)' }
  })
}
