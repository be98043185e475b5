/**
 * Agent: the served model edits the harness as files, checks and tries its changes, and returns the admitted change.
 * Does not run anything it writes, except in trials, which the step plays.
 */
import { define, unavailable } from '../../../src/contract/index.ts'
import type { Brief, Proposal, ChatCall, ChatMessage, Model, Task } from '../../../src/contract/index.ts'
import {
  failureOf,
  lostModel,
  proposalOf,
  review,
  DESIGN_BRIEF,
  groundRules,
  REQUIRES_GUIDE,
  situation,
  SMALL_CHANGE,
} from '../../../src/evolution/index.ts'
import type { Drafted } from '../../../src/evolution/index.ts'
import { fence, orAborted } from '../../../src/kit/index.ts'
import { openTools, TOOLS, type Toolbox } from './tools.ts'
import { openWorkspace } from './workspace.ts'

const LIMITS = { turnsMax: 40, seconds: 1800 }

export default define('proposer', {
  acceptsRequests: true,

  async propose(brief) {
    if (brief.request === null && brief.samples.length === 0) return null
    const { served } = brief.models
    if (served === undefined) throw unavailable('no_model', 'the agent proposer asks the model `served`, and the step has none')
    brief.report.line('proposer', `the agent starts, with ${LIMITS.turnsMax} turns and ${LIMITS.seconds} s`)
    const { checked, problem, failure } = await work(brief, served, LIMITS)
    brief.report.line('proposer', `the agent ended: ${problem ?? 'done'}`, problem !== null)
    if (checked === null) return nothing(brief, problem, failure)
    return proposalOf(brief, { ...checked, review: await review(served, brief, checked), attempts: 1 })
  },
})

/** No change: null for traffic, a note for a person's request. */
function nothing(brief: Brief, problem: string | null, failure: unknown): Proposal | null {
  if (failure !== undefined) return lostModel(brief, failure)
  if (problem === null && brief.request === null) return null
  return failureOf(problem ?? 'the agent changed nothing')
}

const TASKS_SHOWN_MAX = 30
const TASK_CHARACTERS_MAX = 240

const WORKSPACE = [
  'You work on files, with tools. Nothing you write is run, but for trials.',
  '- harness/<kind>/<id>.md holds the text of an entry of kind rules, skill or agent_command; harness/code_extension/<id>.ts its code; harness/<kind>/<id>.json the config of an entry of any other kind. The file name without its ending is the id, and the name of a new skill, command or extension.',
  '- A file that you change changes its entry, a new file makes one, a file that you remove takes its entry away.',
  '- harness/requires.json is an array of what the person has to set up; leave it out when there is nothing.',
  '- design.md says what you change and why.',
  '- reference/ can be read only.',
  'Look before you write, check what you wrote, try it where you can, and call finish when it is done.',
].join('\n')

interface AgentSession {
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

export async function work(brief: Brief, model: Model, limits: typeof LIMITS): Promise<AgentSession> {
  const tools = openTools(brief, openWorkspace(brief))
  const limit = AbortSignal.timeout(limits.seconds * 1000)
  const over = AbortSignal.any([brief.signal, limit])
  try {
    const problem = await converse(tools, model, [...messagesOf(brief)], limits, over)
    return { checked: tools.checked(), problem }
  } catch (failure) {
    brief.signal.throwIfAborted()
    const checked = tools.checked()
    return limit.aborted
      ? { checked, problem: `not done after ${limits.seconds} s` }
      : { checked, problem: 'the model call failed', failure }
  }
}

async function converse(
  tools: Toolbox,
  model: Model,
  messages: ChatMessage[],
  { turnsMax }: typeof LIMITS,
  over: AbortSignal,
): Promise<string | null> {
  let idle = 0
  for (let turn = 1; turn <= turnsMax && !tools.isFinished(); turn += 1) {
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
  return tools.isFinished() ? null : `not done after ${turnsMax} turns`
}

/** The agent sees a tool's failure: a trial cannot always be played. */
async function resultOf(tools: Toolbox, call: ChatCall, index: number): Promise<string> {
  if (index >= CALLS_PER_TURN_MAX) return `not done: at most ${CALLS_PER_TURN_MAX} calls in one turn`
  try {
    return await tools.run(call)
  } catch (error) {
    return `it failed:\n${fence('failure', error instanceof Error ? error.message : 'for an unknown reason')}`
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

/** The agent's first messages. */
function messagesOf(brief: Brief): readonly ChatMessage[] {
  const isAsked = brief.request !== null
  const system = [groundRules(brief), WORKSPACE, ...(isAsked ? [REQUIRES_GUIDE] : [])].join('\n\n')
  const content = [situation(brief), ...tasksOf(brief.tasks), isAsked ? DESIGN_BRIEF : SMALL_CHANGE].join('\n\n')
  return [
    { role: 'system', content: system },
    { role: 'user', content },
  ]
}

function tasksOf(tasks: readonly Task[]): readonly string[] {
  if (tasks.length === 0) return []
  const rows = tasks
    .slice(0, TASKS_SHOWN_MAX)
    .map(({ name, prompt }) => JSON.stringify({ task: name, prompt: prompt.slice(0, TASK_CHARACTERS_MAX).toWellFormed() }))
  return [`Tasks that a trial can play, by their names:\n${fence('tasks', rows.join('\n'))}`]
}
