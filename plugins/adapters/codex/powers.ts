/** What entries for Codex could do on a machine. */
import type { AdapterPowers } from '../../../src/contract/index.ts'
import { powersFor } from '../../../src/harness/index.ts'

export const POWERS: AdapterPowers = {
  kinds: { rules: ['words'], skill: ['words'], agent_command: ['words'] },
  settings: {
    ...powersFor(['words'], 'primary.', 'background_terminal_max_timeout', 'model_auto_compact_token_limit', 'model_context_window'),
    ...powersFor(['words'], 'primary.', 'model_reasoning_effort', 'model_reasoning_summary', 'model_verbosity', 'personality'),
    ...powersFor(['words'], 'primary.', 'plan_mode_reasoning_effort', 'show_raw_agent_reasoning'),
    ...powersFor(['words'], 'primary.', 'tool_output_token_limit', 'features.sleep_tool'),
    // Prompts that stand above the rules, and what tells the model which permissions it has.
    ...powersFor(['grants'], 'primary.', 'compact_prompt', 'developer_instructions', 'include_permissions_instructions'),
    'primary.include_environment_context': ['grants'],
    ...powersFor(['grants'], 'primary.features.', 'goals', 'multi_agent', 'multi_agent_v2'),
    ...powersFor(['runs'], 'primary.features.', 'shell_snapshot', 'shell_tool', 'unified_exec', 'unified_exec_tty'),
    ...powersFor(['reads'], 'primary.', 'features.view_image', 'tools.view_image', 'project_doc_fallback_filenames'),
    // It brings skills that no person has read.
    'primary.features.skill_search': ['orders', 'hidden', 'reads', 'runs', 'grants', 'reaches'],
    'primary.hide_agent_reasoning': ['hidden'],
    // With 0 the instructions of the project are not read.
    'primary.project_doc_max_bytes': ['removes'],
    'primary.web_search': ['reaches'],
  },
  head: powersFor(['words'], '', 'name', 'description', 'license', 'metadata'),
  // Codex takes texts as they are.
  texts: [],
}
