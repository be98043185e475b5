/** The stages of a graph, walked from its start to an end: each comes to one outcome, and the edge of that outcome leads on. */
import { Worker } from 'node:worker_threads'
import { askAgent } from './agents.ts'
import { failed } from './ended.ts'
import { wayOf } from './graph-file.ts'
import { BRANCH_TEXT_CHARACTERS, PATTERN_SECONDS_MAX, STAGES_PER_STEP_MAX, CHARACTERS_PER_TOKEN } from './limits.ts'
import { modelStep } from './model-step.ts'
import { makeCalls } from './tool-calls.ts'
import type { Case, Graph, GraphStage } from './tree.ts'
import { requireTime, tell, type AgentTurn } from './turn.ts'
import type { Message } from './chat.ts'

/** Throws `TurnEnded` for every end but those of the graph itself. */
export async function walk(turn: AgentTurn, graph: Graph): Promise<'completed' | 'gave_up'> {
  let name = graph.start
  for (let left = (graph.stepsMax + 1) * STAGES_PER_STEP_MAX; left > 0; left -= 1) {
    requireTime(turn.scene)
    const stage = graph.stages.get(name)
    if (stage === undefined) throw failed('GRAPH_ERROR', `the graph ${graph.name} has no stage ${name}`)
    turn.log.write('stage/enter', { graph: graph.name, stage: name, kind: stage.kind })
    if (stage.kind === 'end') return stage.reason
    const outcome = await play(turn, stage)
    turn.log.write('stage/exit', { graph: graph.name, stage: name, outcome })
    const next = graph.edges.get(wayOf(name, outcome))
    if (next === undefined) throw failed('GRAPH_ERROR', `the graph ${graph.name} has no edge from ${name} for ${outcome}`)
    name = next
  }
  throw failed('GRAPH_ERROR', `the graph ${graph.name} goes from stage to stage and comes to no end`)
}

async function play(turn: AgentTurn, stage: Exclude<GraphStage, { kind: 'end' }>): Promise<string> {
  switch (stage.kind) {
    case 'model':
      return modelStep(turn)
    case 'tools':
      await makeCalls(turn, stage.allow)
      return 'done'
    case 'verify':
      return verify(turn, stage)
    case 'message':
      tell(turn, 'stage', stage.text)
      return 'done'
    case 'branch':
      return branch(turn, stage.cases)
    case 'compact':
      compact(turn, stage.fireRatio, stage.keepRatio)
      return 'done'
    default: {
      const { outcome, text } = await askAgent(turn, stage.agent, soFar(turn), walk)
      tell(turn, 'agent', text === '' ? `${stage.agent} answered nothing (${outcome}).` : `${stage.agent} answered:\n${text}`)
      return outcome
    }
  }
}

type Verify = Extract<GraphStage, { kind: 'verify' }>

const ADVICE: Readonly<Record<Verify['check'], string>> = {
  last_line_integer: 'The last line of the answer must be a whole number and nothing else. Answer again.',
  last_line_matches: 'The last line of the answer does not have the form that is asked for. Answer again.',
  nonempty: 'The answer is empty. Answer again.',
}

/** Without a word of why, the model would only say the same again. */
async function verify(turn: AgentTurn, { check, pattern, message }: Verify): Promise<'pass' | 'fail'> {
  const lines = turn.lastText.split('\n').map((line) => line.trim())
  const last = lines.findLast((line) => line !== '') ?? ''
  if (await passes(check, pattern, last)) return 'pass'
  tell(turn, 'stage', message ?? ADVICE[check])
  return 'fail'
}

async function passes(check: Verify['check'], pattern: string, last: string): Promise<boolean> {
  if (check === 'nonempty') return last !== ''
  if (check === 'last_line_integer') return /^[-+]?\d+$/.test(last)
  return (await isFound(pattern, last)) === true
}

async function branch(turn: AgentTurn, cases: readonly Case[]): Promise<string> {
  for (const each of cases) if (await fits(turn, each)) return each.outcome
  return 'else'
}

async function fits(turn: AgentTurn, { stepsUsedAtLeast, toolErrorsAtLeast, lastTextMatches }: Case): Promise<boolean> {
  if (stepsUsedAtLeast !== null) return turn.stepsUsed >= stepsUsedAtLeast
  if (toolErrorsAtLeast !== null) return turn.toolErrors >= toolErrorsAtLeast
  return lastTextMatches !== null && (await isFound(lastTextMatches, turn.lastText.slice(-BRANCH_TEXT_CHARACTERS))) === true
}

const soFar = ({ task, lastText }: AgentTurn): string => (lastText === '' ? task : `${task}\n\nThe answer so far:\n${lastText}`)

const MATCHER = `
  const { parentPort, workerData } = require('node:worker_threads')
  parentPort.postMessage(new RegExp(workerData.pattern).test(workerData.text))
`

/** Whether a pattern of the tree is found in a text; null when it took too long or is no pattern. In a thread, since some patterns never end. */
function isFound(pattern: string, text: string): Promise<boolean | null> {
  return new Promise((resolve) => {
    const worker = new Worker(MATCHER, { eval: true, workerData: { pattern, text }, env: {}, execArgv: [] })
    let timer: NodeJS.Timeout | undefined
    const end = (found: boolean | null): void => {
      clearTimeout(timer)
      void worker.terminate()
      resolve(found)
    }
    // Starting the thread is no fault of the pattern's.
    worker.on('online', () => (timer = setTimeout(() => end(null), PATTERN_SECONDS_MAX * 1000)))
    worker.on('message', (found: boolean) => end(found))
    worker.on('error', () => end(null))
  })
}

/** Makes a conversation shorter once it is too long for the model: the task and the newest messages stay. */
function compact(turn: AgentTurn, fireRatio: number, keepRatio: number): void {
  const { messages, system, scene, log } = turn
  const window = scene.model.contextTokens
  const before = tokensOf(messages) + system.length / CHARACTERS_PER_TOKEN
  if (before <= fireRatio * window) return
  const [task, ...rest] = messages
  if (task === undefined) return
  const kept = newest(rest, keepRatio * window)
  const dropped = rest.length - kept.length
  if (dropped === 0) return
  const note: Message = { role: 'user', content: `[${dropped} earlier messages were left out to make room]` }
  messages.splice(0, messages.length, task, note, ...kept)
  log.write('context/compacted', { dropped, tokens_before: Math.round(before), tokens_after: Math.round(tokensOf(messages)) })
}

const tokensOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + JSON.stringify(message).length, 0) / CHARACTERS_PER_TOKEN

/** A result goes with the call it is the result of, so a kept part never begins with one. The newest group stays however long it is. */
function newest(messages: readonly Message[], tokens: number): readonly Message[] {
  let start = messages.length
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    if (messages[at]?.role === 'tool') continue
    if (start < messages.length && tokensOf(messages.slice(at)) > tokens) break
    start = at
  }
  return messages.slice(start)
}
