/** The settings of Terminus that a tree may set: never the model or its address. */
import { z } from 'zod'
import type { Entry } from '../../../src/contract/index.ts'
import { refuseOthers, settings, settingsIn } from '../../../src/harness/index.ts'

const anything = z.unknown()

const SETTINGS = settings({
  enable_summarize: anything,
  interleaved_thinking: anything,
  // Other arguments may name another model, address or headers.
  llm_call_kwargs: settings({
    frequency_penalty: anything,
    max_completion_tokens: anything,
    max_tokens: anything,
    min_p: anything,
    presence_penalty: anything,
    reasoning_effort: anything,
    repetition_penalty: anything,
    seed: anything,
    stop: anything,
    temperature: anything,
    thinking: anything,
    top_k: anything,
    top_p: anything,
  }),
  max_thinking_tokens: anything,
  max_turns: anything,
  parser_name: anything,
  proactive_summarization_threshold: anything,
  reasoning_effort: anything,
  temperature: anything,
})

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) refuseOthers(setting, SETTINGS)
}
