/** A provider whose answers depend on the prompt: an agent that does right only where its rules say how, and a proposer that has to see what went wrong. */
import { thenSay, isTurn, type Call } from '../agents/support/model.ts'
import { answerPlainly, sendJson, type Received, type Script } from '../support/upstream.ts'
import { partIn, type RepositoryKind } from './improve-repositories.ts'

/** What it was asked for, and so what was paid for. */
export interface Asked {
  readonly what: 'episode' | 'proposal'
  /** Of an episode: the function, and whether the rules said how. */
  readonly name: string
  readonly isTaught: boolean
}

/** How an agent is told to write a file. */
export type WriteCall = (path: string, text: string) => Call

/** A change that helps nothing, from a proposer that has not seen the mistake. */
export const NO_HELP = 'Be kind to the reader.'

const PROPOSING = 'You improve the harness of the coding agent'

/** `asked` grows with what it is asked. */
export function providerFor(kind: RepositoryKind, write: WriteCall) {
  const asked: Asked[] = []
  const script: Script = (received, response) => {
    const text = received.body.toString()
    if (text.includes(PROPOSING)) {
      const [design, lesson] = kind.mistake.test(text) ? ['what the runs got wrong', kind.lesson] : ['a guess', NO_HELP]
      asked.push({ what: 'proposal', name: lesson, isTaught: false })
      const said = JSON.stringify([{ design }, { id: 'how', name: 'rules', config: { text: lesson } }])
      return sendJson(response, 200, wholeAnswer(received, { content: said }))
    }
    if (!isTurn(received)) return answerPlainly(received, response)
    const part = partIn(text) ?? { name: 'none', words: '', add: 0 }
    const isTaught = text.includes(kind.lesson)
    const call = write(kind.path(part.name), isTaught ? kind.right(part) : kind.wrong(part))
    const isDone = text.includes(CALL_ID)
    if (!isDone) asked.push({ what: 'episode', name: part.name, isTaught })
    if (/"stream"\s*:\s*true/.test(text)) return thenSay(call, 'Done.')(received, response)
    const made = { id: CALL_ID, type: 'function', function: { name: call.tool, arguments: JSON.stringify(call.input) } }
    return sendJson(response, 200, wholeAnswer(received, isDone ? { content: 'Done.' } : { tool_calls: [made] }))
  }
  return { asked, script }
}

/** The one that `thenSay` gives. */
const CALL_ID = 'call_mark_1'

/** In the format of the address; calls in chat alone, which is what agents that do not stream speak here. */
function wholeAnswer({ url }: Received, message: { readonly content?: string; readonly tool_calls?: readonly object[] }): object {
  const [text, id] = [message.content ?? '', { id: 'x', model: 'scripted' }]
  if (url.includes('/messages'))
    return {
      ...id,
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 100, output_tokens: 10 },
    }
  if (url.includes('/responses')) {
    const content = [{ type: 'output_text', text, annotations: [] }]
    const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }
    return { ...id, object: 'response', created_at: 1, status: 'completed', output: [item] }
  }
  return {
    ...id,
    object: 'chat.completion',
    created: 1,
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: null, ...message } }],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
  }
}
