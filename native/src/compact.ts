/** Makes a conversation shorter once it is too long for the model: the task and the newest messages stay. */
import type { Message } from './chat.ts'
import { CHARACTERS_PER_TOKEN } from './limits.ts'
import type { AgentTurn } from './turn.ts'

export function compact(turn: AgentTurn, fireRatio: number, keepRatio: number): void {
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
