/** One step of a turn: the model is asked, as often as it may be when it fails, and what it says becomes part of the conversation. */
import { askModel, assistantMessage, ModelFailure, type Message, type ChatReply } from './chat.ts'
import { TurnEnded, failed } from './ended.ts'
import { decide, textsIn } from './hooks.ts'
import { ATTEMPTS_MAX, RETRY_WAIT_SECONDS_MAX } from './limits.ts'
import { answerLeftCalls, budgetEnd, requireTime, spend, tell, type AgentTurn } from './turn.ts'

/** Throws `TurnEnded` when there is no step left, a hook rejects it, or the model cannot be asked. */
export async function modelStep(turn: AgentTurn): Promise<'tool_calls' | 'text'> {
  requireTime(turn.scene)
  if (!spend(turn.budget, 'steps')) throw budgetEnd('max-steps', turn)
  turn.stepsUsed += 1
  answerLeftCalls(turn)
  turn.log.write('step/start', { step: turn.stepsUsed })
  const { action, reason, data } = await decide(turn, 'pre_step', { step: turn.stepsUsed, task: turn.task, text: turn.lastText }, 'enter')
  if (action === 'reject') throw new TurnEnded('rejected', `a hook rejected step ${turn.stepsUsed}${reason === '' ? '' : `: ${reason}`}`)
  for (const text of textsIn(data, 'messages')) tell(turn, 'hook', text)
  const reply = await ask(turn)
  turn.messages.push(assistantMessage(reply))
  turn.calls = reply.calls
  turn.lastText = reply.text
  turn.log.write('assistant/message', { ...reply })
  turn.log.write('step/end', { step: turn.stepsUsed })
  return reply.calls.length > 0 ? 'tool_calls' : 'text'
}

async function ask(turn: AgentTurn): Promise<ChatReply> {
  const { scene, log, system, tools } = turn
  const messages: readonly Message[] = [{ role: 'system', content: system }, ...turn.messages]
  log.write('request/header', { system, tools, messages: turn.messages.length })
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await askModel(scene.model, messages, tools, scene.signal)
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error
      log.write('request/error', { attempt, status: error.status, message: error.message })
      if (!(await isWorthAnother(turn, error, attempt))) throw failed('MODEL_ERROR', error.message)
      await scene.wait(Math.min(error.retryAfterSeconds ?? 2 ** (attempt - 1), RETRY_WAIT_SECONDS_MAX))
      requireTime(scene)
    }
  }
}

/** What passes by itself is tried again, unless a hook says otherwise. */
async function isWorthAnother(turn: AgentTurn, { status, message, isPassing }: ModelFailure, attempt: number): Promise<boolean> {
  const { action } = await decide(turn, 'request_error', { attempt, status, message }, isPassing ? 'retry' : 'fail')
  return action === 'retry' && attempt < ATTEMPTS_MAX
}
