/** What a list says of an exchange without its body: which model, how long it took, how many tokens its provider counted. */
import type { ExchangeSummary, JsonObject } from '../contract/index.ts'
import { dialects, objectOf, type DialectSpec } from '../dialects/index.ts'

const MODEL_CHARACTERS_MAX = 200

export function summaryOf(dialect: DialectSpec, askedModel: string, answer: JsonObject, seconds: number): ExchangeSummary {
  const members = dialect.answer
  const model = answer[members.model] ?? askedModel
  const usage = objectOf(answer[members.usage])
  // An upstream may count in the words of another format: the first names that occur are read.
  const sources = [dialects.chat.answer, dialects.messages.answer, members]
  const tokens = (kind: 'inputTokens' | 'outputTokens'): number | null =>
    sumOf(usage, sources.find((source) => source[kind].some((name) => usage[name] !== undefined))?.[kind] ?? [])
  const [input, output] = [tokens('inputTokens'), tokens('outputTokens')]
  return {
    ...(typeof model === 'string' && model !== '' && { model: model.slice(0, MODEL_CHARACTERS_MAX).toWellFormed() }),
    latency_ms: Math.max(0, Math.round(seconds * 1000)),
    ...(input !== null && { input_tokens: input }),
    ...(output !== null && { output_tokens: output }),
  }
}

/** Null where none of the counts is there, or they add up to no whole number. */
function sumOf(usage: JsonObject, names: readonly string[]): number | null {
  const counts = names.map((name) => usage[name]).filter((count) => typeof count === 'number' && count >= 0)
  const sum = counts.reduce((total: number, count) => total + Number(count), 0)
  return counts.length === 0 || !Number.isSafeInteger(sum) ? null : sum
}
