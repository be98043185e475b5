/** One turn from a person's words to an answer or a reason why there is none. */
import { wordsOf } from '@svc-ai/agent/shared'
import { askAgent } from './agents.ts'
import type { Message } from './chat.ts'
import { TurnEnded, failed, type EndReason, type ErrorCode } from './ended.ts'
import { isData } from './fields.ts'
import { LOOP_SECONDS_MAX, TOOL_CALLS_MAX } from './limits.ts'
import { graphNamed } from './load.ts'
import { modelStep } from './model-step.ts'
import { runModule } from './module.ts'
import type { SessionLog } from './session-log.ts'
import { walk } from './stages.ts'
import { makeCalls } from './tool-calls.ts'
import { BUILT_IN_GRAPH, ROOT_GRAPH, type Loop } from './tree.ts'
import { answerLeftCalls, newTurn, systemText, tell, type TurnScene, type AgentTurn } from './turn.ts'

export interface TurnEnd {
  readonly reason: EndReason
  /** The last thing the model said. */
  readonly text: string
  /** Of an error. */
  readonly code: ErrorCode | null
  /** Why, unless it is completed. */
  readonly message: string | null
}

/** Never throws for anything that can happen in a turn. The messages of earlier turns are added to. */
export async function runTurn(scene: TurnScene, log: SessionLog, messages: Message[], task: string): Promise<TurnEnd> {
  const turn = turnOf(scene, log, messages, task)
  try {
    begin(turn)
    const { loop } = scene.tree
    const reason = loop === null ? await walk(turn, graphNamed(scene.tree, rootGraph(scene))) : await runLoop(turn, loop)
    return end(turn, { reason, code: null, message: null })
  } catch (error) {
    const { reason, code, message } = endedBy(error)
    return end(turn, { reason, code, message: reason === 'completed' ? null : message })
  }
}

const rootGraph = ({ tree }: TurnScene): string => (tree.graphs.has(ROOT_GRAPH) ? ROOT_GRAPH : BUILT_IN_GRAPH)

function turnOf(scene: TurnScene, log: SessionLog, messages: Message[], task: string): AgentTurn {
  const { tree, workdir, selfTools } = scene
  const steps = tree.loop?.stepsMax ?? graphNamed(tree, rootGraph(scene)).stepsMax
  const system = systemText(tree.rules, workdir, tree.skills)
  const budget = { steps, toolCalls: TOOL_CALLS_MAX, parent: null }
  return newTurn({ scene, log, task, system, tools: [...tree.tools, ...selfTools], depth: 0, budget, messages })
}

function begin({ scene, log, tools, messages, task }: AgentTurn): void {
  const { tree, model } = scene
  log.write('session', {
    task,
    model: model.model,
    tools: tools.map(({ name, capabilities }) => ({ name, capabilities })),
    hooks: tree.hooks.map(({ name, event }) => ({ name, event })),
    graph: rootGraph(scene),
    loop: tree.loop?.name ?? null,
    agents: [...tree.agents.keys()],
  })
  messages.push({ role: 'user', content: task })
  log.write('turn/start', { task })
}

/**
 * A loop of the tree's own in place of the graph: its code runs in a process of its own and asks for everything it wants done.
 * Throws `TurnEnded`, also for the end that the loop asks for.
 */
async function runLoop(turn: AgentTurn, loop: Loop): Promise<'completed'> {
  let before: Promise<unknown> = Promise.resolve()
  const outcome = await runModule({
    task: { kind: 'loop', code: loop.code, task: turn.task },
    capabilities: ['read'],
    workdir: turn.scene.workdir,
    secondsMax: LOOP_SECONDS_MAX,
    signal: turn.scene.signal,
    // One after the other, however many it asks for at once: they all change the same conversation.
    answer: (method, args) => (before = before.then(() => answerLoop(turn, method, args))),
  })
  if (outcome.ok) return 'completed'
  throw failed('LOOP_ERROR', `the loop ${loop.name} failed: ${outcome.problem}`)
}

async function answerLoop(turn: AgentTurn, method: string, [first, second]: readonly unknown[]): Promise<unknown> {
  switch (method) {
    case 'model': {
      await modelStep(turn)
      return { text: turn.lastText, calls: turn.calls }
    }
    case 'runTools': {
      const start = turn.messages.length
      await makeCalls(turn, null)
      return turn.messages.slice(start).map(({ content }) => content)
    }
    case 'text':
      return turn.lastText
    case 'say':
      return tell(turn, 'loop', String(first))
    case 'agent':
      return askAgent(turn, String(first), String(second), walk)
    case 'end':
      throw new TurnEnded(first === 'gave_up' ? 'gave_up' : 'completed', 'the loop ended the turn')
    case 'log':
      return turn.log.write('loop/log', isData(first) ? first : { value: first ?? null })
    default:
      throw failed('LOOP_ERROR', 'the loop asked for something that there is not')
  }
}

function endedBy(error: unknown): Pick<TurnEnded, 'reason' | 'code' | 'message'> {
  if (error instanceof TurnEnded) return error
  return { reason: 'error', code: 'TURN_ERROR', message: wordsOf(error) }
}

/** When the log itself failed, the caller still gets an answer. */
function end(turn: AgentTurn, how: Omit<TurnEnd, 'text'>): TurnEnd {
  answerLeftCalls(turn)
  const text = turn.scene.redact(turn.lastText)
  try {
    turn.log.write('turn/end', { ...how, text, steps: turn.stepsUsed })
  } catch (error) {
    if (how.reason !== 'error') return { reason: 'error', code: 'TURN_ERROR', message: wordsOf(error), text }
  }
  return { ...how, text }
}
