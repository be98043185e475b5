/** Agents of the tree: each takes a turn of its own, with its own words, tools and log, on its caller's budget. */
import { TurnEnded, failed } from './ended.ts'
import { AGENT_DEPTH_MAX } from './limits.ts'
import { graphNamed } from './load.ts'
import type { Agent, Graph } from './tree.ts'
import { newTurn, systemText, type AgentTurn } from './turn.ts'

export interface AgentAnswer {
  readonly outcome: 'completed' | 'gave_up' | 'budget' | 'ask'
  readonly text: string
}

/** Goes through a graph. */
type Walk = (turn: AgentTurn, graph: Graph) => Promise<'completed' | 'gave_up'>

/** The agent, and after it those that it hands its text on to, until one does not complete. Throws `TurnEnded` for errors. */
export async function askAgent(turn: AgentTurn, name: string, task: string, walk: Walk): Promise<AgentAnswer> {
  if (turn.depth >= AGENT_DEPTH_MAX) throw failed('GRAPH_ERROR', `agents ask agents more than ${AGENT_DEPTH_MAX} deep`)
  const agent = turn.scene.tree.agents.get(name)
  if (agent === undefined) throw failed('GRAPH_ERROR', `the tree has no agent ${name}`)
  let answer = await takeTurn(turn, agent, task, walk)
  for (const follower of agent.followers) {
    if (answer.outcome !== 'completed') return answer
    const next = turn.scene.tree.agents.get(follower)
    if (next === undefined) throw failed('GRAPH_ERROR', `the tree has no agent ${follower}`)
    answer = await takeTurn(turn, next, answer.text, walk)
  }
  return answer
}

async function takeTurn(parent: AgentTurn, agent: Agent, task: string, walk: Walk): Promise<AgentAnswer> {
  const turn = turnOf(parent, agent, task)
  turn.log.write('session', { agent: agent.name, task, graph: agent.graph, tools: turn.tools.map(({ name }) => name) })
  try {
    const reason = await walk(turn, graphNamed(parent.scene.tree, agent.graph))
    turn.log.write('turn/end', { reason })
    return { outcome: reason, text: turn.lastText }
  } catch (error) {
    if (!(error instanceof TurnEnded)) throw error
    turn.log.write('turn/end', { reason: error.reason, code: error.code, message: error.message })
    const outcome = OUTCOMES[error.reason]
    if (outcome === undefined) throw error
    return { outcome, text: turn.lastText }
  }
}

/** An error and a timeout end the caller's turn as well. */
const OUTCOMES: Readonly<Partial<Record<TurnEnded['reason'], AgentAnswer['outcome']>>> = {
  'max-steps': 'budget',
  'max-tool-calls': 'budget',
  rejected: 'gave_up',
  ask: 'ask',
}

function turnOf(parent: AgentTurn, agent: Agent, task: string): AgentTurn {
  const { scene } = parent
  const skills = scene.tree.skills.filter(({ name }) => agent.skills === null || agent.skills.includes(name))
  const tools = [...scene.tree.tools, ...scene.selfTools].filter(({ name }) => agent.tools === null || agent.tools.includes(name))
  return newTurn({
    scene,
    log: parent.log.forAgent(agent.name),
    task,
    system: systemText(agent.prompt, scene.workdir, skills),
    tools,
    depth: parent.depth + 1,
    budget: { steps: agent.stepsMax, toolCalls: agent.toolCallsMax, parent: parent.budget },
    messages: [{ role: 'user', content: task }],
  })
}
