/** A small recipe: puts house rules in front of every request, and accepts only reports with a score from 0 to 1. */
import { define, type Dialect, type Json, type JsonObject, type Processor } from '../../src/contract/index.ts'
import { keepOnly } from '../../src/training/index.ts'

const RULES = 'Answer in one sentence.'

export default define('recipe', {
  /** The first release of a new scenario. */
  seed: { 'rules.md': `${RULES}\n` },

  /** Why a report is refused, or null. The service answers 400 with this text. */
  checkReport({ score }) {
    return typeof score === 'number' && score >= 0 && score <= 1 ? null : 'score: must be a number from 0 to 1'
  },

  async bind({ runtime, gateway }) {
    return {
      runtime,
      surface: { hooks: { prepare: (_release, dialect, body) => withRules(dialect, body) } },
      processors: { '': processor },
      ...(gateway && { gateway }),
      close: async () => undefined,
    }
  },
})

/** The body to forward and record; the original is not changed. */
function withRules(dialect: Dialect, body: JsonObject): JsonObject {
  if (dialect === 'chat') return { ...body, messages: [{ role: 'system', content: RULES }, ...listOf(body['messages'])] }
  const key = dialect === 'responses' ? 'instructions' : 'system'
  const own = body[key]
  return {
    ...body,
    [key]: typeof own === 'string' ? `${RULES}\n${own}` : Array.isArray(own) ? [{ type: 'text', text: RULES }, ...own] : RULES,
  }
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

/** Asks clients for reports and learns nothing from them. */
const processor: Processor = {
  ...keepOnly('house-rules'),
  requestTypes: ['inference', 'report'],
  status: () => ({ rules: RULES }),
}
