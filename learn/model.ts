/** The mock model for proposers, in process. */
import { isObject, type ChatMessage, type Json, type Model } from '../src/contract/index.ts'
import { makePractice } from '../plugins/runtimes/practice/runtime.ts'

export function practiceModel(): Model {
  const runtime = makePractice({ noise: 0, chunkDelayMs: 0 }, () => 0)
  const chat = async (messages: readonly ChatMessage[]): Promise<string> => {
    const answer = await runtime.infer({
      dialect: 'chat',
      path: '/v1/chat/completions',
      headers: {},
      model: { url: '', model: 'practice', api: 'openai', apiKey: null },
      release: { release_id: '', parent_release_id: null, content_id: '' },
      purpose: 'evaluation',
      signal: new AbortController().signal,
      body: Buffer.from(JSON.stringify({ model: 'practice', messages })),
    })
    if (answer.kind !== 'whole') throw new Error(`expected a whole answer, got ${answer.kind}`)
    return textIn(JSON.parse(Buffer.from(answer.body).toString()))
  }
  return { name: 'practice', chat, turn: async (messages) => ({ text: await chat(messages), calls: [] }) }
}

function textIn(body: Json): string {
  const [choice] = isObject(body) && Array.isArray(body['choices']) ? body['choices'] : []
  const message = isObject(choice) ? choice['message'] : null
  return isObject(message) && typeof message['content'] === 'string' ? message['content'] : ''
}
