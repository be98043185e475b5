/** What entries for opencode could do on a machine. */
import type { AdapterPowers } from '../../../src/contract/index.ts'
import { IMPORTS, powersFor, PROGRAMS } from '../../../src/harness/index.ts'

export const POWERS: AdapterPowers = {
  kinds: { rules: ['words'], skill: ['words'], agent_command: ['words'], code_extension: ['runs'] },
  settings: {
    ...powersFor(['words'], 'primary.', 'compaction', 'tool_output'),
    // Without it a long session ends.
    'primary.compaction.auto': ['removes'],
    // Agents bring their own prompt, tools and permissions.
    ...powersFor(['grants'], 'primary.', 'agent', 'default_agent', 'experimental', 'subagent_depth'),
    // Permissions and tools include those that fetch.
    ...powersFor(['grants', 'reaches'], 'primary.', 'permission', 'tools'),
    // Without snapshots a person cannot undo.
    'primary.snapshot': ['removes'],
  },
  head: {
    ...powersFor(['words'], '', 'name', 'description', 'license', 'compatibility', 'metadata'),
    ...powersFor(['grants'], '', 'agent', 'subtask'),
  },
  texts: [
    IMPORTS,
    PROGRAMS,
    { pattern: /\{(?:file|env):/i, power: 'reads', why: 'a {file:…} or {env:…}, in whose place opencode puts what the machine has' },
  ],
}
