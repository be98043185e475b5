/** Asks the model for the steps of a request and what the harness lacks for them. */
import { isObject, type Brief, type Json, type Model } from '../../../src/contract/index.ts'
import { groundRules, objectIn, situation } from '../../../src/evolution/index.ts'

const OPTIONS = { tokensMax: 4096, timeoutSeconds: 60 }
const STEPS_MAX = 20
const STEP_CHARACTERS_MAX = 300

const TASK = [
  'Do not write any entry yet. List the steps of what the person asks for, and for each whether it needs a tool or a right that the harness lacks.',
  'Answer with one JSON object and nothing else: {"steps": [{"step": "…", "needs": "…" or null}]}.',
].join('\n')

/** Null when there is no plan: the request alone is enough. */
export async function planOf(brief: Brief, model: Model): Promise<readonly string[] | null> {
  try {
    const messages = [
      { role: 'system', content: groundRules(brief) },
      { role: 'user', content: `${situation(brief)}\n\n${TASK}` },
    ] as const
    const answer = objectIn(await model.chat(messages, OPTIONS))
    const steps = typeof answer === 'string' ? [] : stepsOf(answer['steps'])
    return steps.length === 0 ? null : steps
  } catch {
    brief.signal.throwIfAborted()
    return null
  }
}

function stepsOf(value: Json | undefined): readonly string[] {
  const steps = Array.isArray(value) ? value.filter(isObject) : []
  return steps.slice(0, STEPS_MAX).flatMap(({ step, needs }) => {
    if (typeof step !== 'string') return []
    return [(typeof needs === 'string' && needs !== '' ? `${step} (needs ${needs})` : step).slice(0, STEP_CHARACTERS_MAX).toWellFormed()]
  })
}
