/** One turn from a person's words to an answer or a reason why there is none. */
import { lineOf } from '@svc-ai/agent/shared'
import type { Message } from './chat.ts'
import { TurnEnded, type EndReason, type ErrorCode } from './ended.ts'
import { TOOL_CALLS_MAX } from './limits.ts'
import { graphNamed } from './load.ts'
import { runLoop } from './loop.ts'
import type { SessionLog } from './session-log.ts'
import { walk } from './stages.ts'
import { BUILT_IN_GRAPH, ROOT_GRAPH } from './tree.ts'
import { systemText, type TurnScene, type AgentTurn } from './turn.ts'

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
  return {
    scene,
    log,
    task,
    system: systemText(tree.rules, workdir, tree.skills),
    tools: [...tree.tools, ...selfTools].map(({ name, description, parameters, capabilities }) => ({
      name,
      description,
      parameters,
      capabilities,
    })),
    depth: 0,
    budget: { steps, toolCalls: TOOL_CALLS_MAX, parent: null },
    messages,
    calls: [],
    lastText: '',
    stepsUsed: 0,
    toolErrors: 0,
  }
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

function endedBy(error: unknown): Pick<TurnEnded, 'reason' | 'code' | 'message'> {
  if (error instanceof TurnEnded) return error
  return { reason: 'error', code: 'TURN_ERROR', message: lineOf(error) ?? wordsOf(error) }
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** When the log itself failed, the caller still gets an answer. */
function end({ log, messages, calls, lastText, stepsUsed, scene }: AgentTurn, how: Omit<TurnEnd, 'text'>): TurnEnd {
  for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: 'This call was not made.' })
  const text = scene.redact(lastText)
  try {
    log.write('turn/end', { ...how, text, steps: stepsUsed })
  } catch (error) {
    if (how.reason !== 'error') return { reason: 'error', code: 'TURN_ERROR', message: lineOf(error) ?? wordsOf(error), text }
  }
  return { ...how, text }
}
