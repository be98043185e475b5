/** What entries for Terminus could do on a machine. */
import type { AdapterPowers } from '../../../src/contract/index.ts'
import { powersFor } from '../../../src/harness/index.ts'

export const POWERS: AdapterPowers = {
  kinds: { rules: ['words'], skill: ['words'], agent_command: ['words'] },
  settings: {
    ...powersFor(['words'], 'primary.', 'interleaved_thinking', 'llm_call_kwargs', 'max_thinking_tokens', 'max_turns'),
    ...powersFor(['words'], 'primary.', 'proactive_summarization_threshold', 'reasoning_effort', 'temperature'),
    // Without it a long session ends.
    'primary.enable_summarize': ['removes'],
    // A parser decides which commands are read out of an answer.
    'primary.parser_name': ['runs'],
  },
  head: powersFor(['words'], '', 'name', 'description', 'license', 'metadata'),
  texts: [],
}
