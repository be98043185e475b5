/** What a tree may say to Terminus: how it works, never which model it asks or where. */
import { z } from 'zod'
import type { Entry } from '../../../src/contract/index.ts'
import { refuseOthers, settings, settingsIn } from '../../../src/harness/index.ts'

const anything = z.unknown()

const SETTINGS = settings({
  enable_summarize: anything,
  interleaved_thinking: anything,
  // Everything else that a call takes may name another model, another address or other headers, some of it under several names.
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
