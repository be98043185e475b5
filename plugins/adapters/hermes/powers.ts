/** What entries for Hermes could do on a machine. */
import type { AdapterPowers } from '../../../src/contract/index.ts'
import { IMPORTS, powersFor, PROGRAMS } from '../../../src/harness/index.ts'

export const POWERS: AdapterPowers = {
  kinds: { rules: ['words'], skill: ['words'], agent_command: ['words'], code_extension: ['runs'] },
  settings: {
    ...powersFor(['words'], 'primary.agent.', 'api_max_retries', 'coding_instructions', 'max_turns', 'reasoning_effort', 'verbose'),
    ...powersFor(['words'], 'primary.', 'compression', 'tool_output'),
    ...powersFor(['grants'], 'primary.', 'agent.personalities', 'agent.system_prompt', 'delegation'),
    // What it writes down by itself is read in later sessions.
    ...powersFor(['grants'], 'primary.', 'memory', 'skills.creation_nudge_interval'),
    'primary.platform_toolsets': ['grants', 'reaches'],
    // Without compression a long session ends.
    'primary.compression.enabled': ['removes'],
    ...powersFor(['removes'], 'primary.', 'agent.disabled_toolsets', 'checkpoints', 'skills.disabled'),
    'primary.skills.template_vars': ['reads', 'runs'],
  },
  // Others may ask for variables of the machine or programs.
  head: powersFor(['words'], '', 'name', 'description', 'version', 'license', 'author'),
  texts: [IMPORTS, PROGRAMS, { pattern: /\$\{/, power: 'reads', why: 'a ${…}, in whose place Hermes puts a variable of the machine' }],
}
