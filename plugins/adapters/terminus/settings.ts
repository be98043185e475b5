/** What a tree may say to Terminus: how it works, never which model it asks or where. */
import { invalid, isObject, type Entry } from '../../../src/contract/index.ts'

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
  for (const { id, config } of entries.filter(({ name }) => name === 'config')) {
    const data = isObject(config['data']) ? config['data'] : {}
    refuseOthers(`${id}: config.data`, Object.keys(data), SETTINGS)
    const call = data['llm_call_kwargs']
    if (call === undefined) continue
    if (!isObject(call)) throw invalid('setting_refused', `${id}: config.data.llm_call_kwargs must be an object`)
    refuseOthers(`${id}: config.data.llm_call_kwargs`, Object.keys(call), CALL_SETTINGS)
  }
}

function refuseOthers(field: string, found: readonly string[], known: readonly string[]): void {
  const other = found.find((key) => !known.includes(key))
  if (other !== undefined)
    throw invalid('setting_refused', `${field}.${other} is no setting a tree may have; there are: ${known.join(', ')}`)
}
