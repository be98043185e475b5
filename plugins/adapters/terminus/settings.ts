/** What a tree may say to Terminus: how it works, never which model it asks or where. */
import { isObject, type Entry } from '../../../src/contract/index.ts'
import { refuseOthers, settingRefused, settingsIn } from '../../../src/harness/index.ts'

const SETTINGS = [
  'enable_summarize',
  'interleaved_thinking',
  'llm_call_kwargs',
  'max_thinking_tokens',
  'max_turns',
  'parser_name',
  'proactive_summarization_threshold',
  'reasoning_effort',
  'temperature',
]

/** Everything else that a call takes may name another model, another address or other headers, some of it under several names. */
const CALL_SETTINGS = [
  'frequency_penalty',
  'max_completion_tokens',
  'max_tokens',
  'min_p',
  'presence_penalty',
  'reasoning_effort',
  'repetition_penalty',
  'seed',
  'stop',
  'temperature',
  'thinking',
  'top_k',
  'top_p',
]

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const { id, data } of settingsIn(entries)) {
    refuseOthers(id, data, SETTINGS)
    const { llm_call_kwargs: call = {} } = data
    if (!isObject(call)) throw settingRefused(id, 'llm_call_kwargs', 'it is an object')
    refuseOthers(id, call, CALL_SETTINGS, 'llm_call_kwargs')
  }
}
