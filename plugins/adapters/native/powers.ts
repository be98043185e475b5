/** What entries for the native agent could do on a machine. */
import type { AdapterPowers } from '../../../src/contract/index.ts'
import { powersFor } from '../../../src/harness/index.ts'

export const POWERS: AdapterPowers = {
  kinds: {
    rules: ['words'],
    skill: ['words'],
    native_tool: ['runs'],
    native_hook: ['runs'],
    native_loop: ['runs'],
    // They say which tools a stage or an agent may use, and bring prompts of their own.
    native_graph: ['grants'],
    native_agent: ['grants'],
  },
  settings: { 'models.context_window': ['words'] },
  head: powersFor(['words'], '', 'name', 'description', 'license', 'metadata'),
  texts: [],
}
