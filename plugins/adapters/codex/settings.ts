/** Which of Codex's settings a tree may choose. What is not listed could lead its requests elsewhere, tell others of them, or loosen its sandbox. */
import { isObject, type Entry, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { refuseOthers, settingRefused, settingsIn } from '../../../src/harness/index.ts'

/** Nothing leaves the machine but what is asked of the model: no telemetry, no update check, no catalogs of the vendor's. */
export const DEFAULTS: JsonObject = {
  analytics: { enabled: false },
  check_for_update_on_startup: false,
  features: { apps: false, plugins: false },
  feedback: { enabled: false },
  otel: { exporter: 'none', log_user_prompt: false, metrics_exporter: 'none', trace_exporter: 'none' },
  sandbox_workspace_write: { network_access: false },
  web_search: 'disabled',
}

const FIELDS = [
  'background_terminal_max_timeout',
  'compact_prompt',
  'developer_instructions',
  'features',
  'hide_agent_reasoning',
  'include_environment_context',
  'include_permissions_instructions',
  'mcp_servers',
  'model_auto_compact_token_limit',
  'model_context_window',
  'model_reasoning_effort',
  'model_reasoning_summary',
  'model_verbosity',
  'personality',
  'plan_mode_reasoning_effort',
  'project_doc_fallback_filenames',
  'project_doc_max_bytes',
  'show_raw_agent_reasoning',
  'tool_output_token_limit',
  'tools',
  'tui',
  'web_search',
]
/** Those that change what the agent can do on its own machine. */
const FEATURES = [
  'goals',
  'multi_agent',
  'multi_agent_v2',
  'shell_snapshot',
  'shell_tool',
  'skill_search',
  'sleep_tool',
  'unified_exec',
  'unified_exec_tty',
  'view_image',
]
const WEB_SEARCH = ['disabled', 'cached', 'indexed', 'live']

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const { id, data } of settingsIn(entries)) {
    refuseOthers(id, data, FIELDS)
    const { features = {}, web_search = 'disabled' } = data
    refuseFeatures(id, features)
    if (!WEB_SEARCH.some((mode) => mode === web_search)) throw settingRefused(id, 'web_search', `it is one of ${WEB_SEARCH.join(', ')}`)
  }
}

function refuseFeatures(id: string, features: Json): void {
  if (!isObject(features)) throw settingRefused(id, 'features', 'it is a table of switches')
  refuseOthers(id, features, FEATURES, 'features')
  for (const [feature, value] of Object.entries(features))
    if (typeof value !== 'boolean') throw settingRefused(id, `features.${feature}`, 'it is true or false')
}
