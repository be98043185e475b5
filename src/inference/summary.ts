/** What a list says of an exchange without its body: which model, how long it took, how many tokens its provider counted. */
import { isObject, type ExchangeSummary, type Json, type JsonObject } from '../contract/index.ts'
import type { DialectSpec } from '../dialects/index.ts'

const MODEL_CHARACTERS_MAX = 200

export function summaryOf(dialect: DialectSpec, askedModel: string, answer: JsonObject, seconds: number): ExchangeSummary {
  const members = dialect.answer
  const model = answer[members.model] ?? askedModel
  const usage = answer[members.usage]
  const input = sumOf(usage, members.inputTokens)
  const output = sumOf(usage, members.outputTokens)
  return {
    ...(typeof model === 'string' && model !== '' && { model: model.slice(0, MODEL_CHARACTERS_MAX).toWellFormed() }),
    latency_ms: Math.max(0, Math.round(seconds * 1000)),
    ...(input !== null && { input_tokens: input }),
    ...(output !== null && { output_tokens: output }),
  }
}

/** Null where none of the counts is there, or they add up to no whole number. */
function sumOf(usage: Json | undefined, names: readonly string[]): number | null {
  if (!isObject(usage)) return null
  const counts = names.map((name) => usage[name]).filter((count) => typeof count === 'number' && count >= 0)
  const sum = counts.reduce((total: number, count) => total + Number(count), 0)
  return counts.length === 0 || !Number.isSafeInteger(sum) ? null : sum
}
