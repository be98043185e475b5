/** A loop of the tree's own in place of the graph: its code runs in a process of its own and asks for everything it wants done. */
import { askAgent } from './agents.ts'
import { TurnEnded, failed } from './ended.ts'
import { isData } from './fields.ts'
import { LOOP_SECONDS_MAX } from './limits.ts'
import { modelStep } from './model-step.ts'
import { runModule } from './module.ts'
import { walk } from './stages.ts'
import { makeCalls } from './tool-calls.ts'
import type { Loop } from './tree.ts'
import { tell, type AgentTurn } from './turn.ts'

/** Throws `TurnEnded`, also for the end that the loop asks for. */
export async function runLoop(turn: AgentTurn, loop: Loop): Promise<'completed'> {
  let before: Promise<unknown> = Promise.resolve()
  const outcome = await runModule({
    task: { kind: 'loop', code: loop.code, task: turn.task },
    capabilities: ['read'],
    workdir: turn.scene.workdir,
    secondsMax: LOOP_SECONDS_MAX,
    signal: turn.scene.signal,
    // One after the other, however many it asks for at once: they all change the same conversation.
    answer: (method, args) => (before = before.then(() => answer(turn, method, args))),
  })
  if (outcome.ok) return 'completed'
  throw failed('LOOP_ERROR', `the loop ${loop.name} failed: ${outcome.problem}`)
}

async function answer(turn: AgentTurn, method: string, [first, second]: readonly unknown[]): Promise<unknown> {
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
