/** What a list tells of an exchange without its body: which model, how long it took, how many tokens its provider counted. */
import { isObject, type ExchangeSummary, type JsonObject } from '../contract/index.ts'

/** `answer` is the provider's own; how it came is the caller's to say. */
export function summaryOf(request: JsonObject, answer: JsonObject, seconds: number): ExchangeSummary {
  const model = answer['model'] ?? request['model']
  return {
    ...(typeof model === 'string' && model !== '' && { model: model.slice(0, MODEL_CHARACTERS_MAX).toWellFormed() }),
    latency_ms: Math.max(0, Math.round(seconds * 1000)),
    ...usageOf(answer),
  }
}

const MODEL_CHARACTERS_MAX = 200

/** A count of tokens is an answer of its own, and says nothing of what anything cost. */
function usageOf({ usage }: JsonObject): Pick<ExchangeSummary, 'input_tokens' | 'output_tokens'> {
  if (!isObject(usage)) return {}
  const input = sumOf(usage, usage['prompt_tokens'] === undefined ? INPUT : ['prompt_tokens'])
  const output = sumOf(usage, usage['completion_tokens'] === undefined ? ['output_tokens'] : ['completion_tokens'])
  return { ...(input !== null && { input_tokens: input }), ...(output !== null && { output_tokens: output }) }
}

/** In the messages format what came from the cache is counted beside the input; everywhere else it is counted within it. */
const INPUT = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']

function sumOf(usage: JsonObject, names: readonly string[]): number | null {
  const counts = names.map((name) => usage[name]).filter((count) => typeof count === 'number' && count >= 0)
  const sum = counts.reduce((total: number, count) => total + Number(count), 0)
  return counts.length === 0 || !Number.isSafeInteger(sum) ? null : sum
}
