/** What entries for DeepSeek Harness could do on a machine. */
import type { AdapterPowers } from '../../../src/contract/index.ts'
import { IMPORTS, powersFor, PROGRAMS } from '../../../src/harness/index.ts'

export const POWERS: AdapterPowers = {
  kinds: { rules: ['words'], skill: ['words'], agent_command: ['words'], code_extension: ['runs'] },
  settings: {
    ...powersFor(['words'], 'primary.', 'compaction-basic', 'repeat-tool-reminder', 'spill-policy', 'tool-fs', 'tool-fs-search'),
    ...powersFor(['words'], 'primary.', 'tool-result-pruner', 'tool-skill', 'tool-str-replace-editor'),
    ...powersFor(['words'], 'primary.', 'tool-todo', 'tool-workflow'),
    ...powersFor(['grants'], 'primary.', 'command-compact', 'command-goal', 'plan-mode', 'system-prompt', 'tool-subagent'),
    ...powersFor(['grants'], 'primary.tool-subagent-', 'control', 'fork', 'list-agents', 'report'),
    // How long it goes on by itself.
    ...powersFor(['grants'], 'primary.', 'tool-goal', 'tool-jobs', 'tool-ralph'),
    // With 0 the instructions of the project are not read.
    'primary.agent-instructions': ['removes'],
    // Without it a long session ends.
    'primary.compaction-basic.config.auto': ['removes'],
    'primary.tool-bash': ['runs'],
    'primary.tool-web': ['reaches'],
    // A plug-in may be what asks the person.
    'primary.*.disabled': ['grants', 'removes'],
  },
  head: {
    ...powersFor(['words'], '', 'name', 'description', 'license', 'metadata', 'disable-model-invocation'),
    'allowed-tools': ['grants'],
  },
  texts: [IMPORTS, PROGRAMS],
}
