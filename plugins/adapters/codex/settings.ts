/** Which of Codex's settings a tree may choose. What is not listed could lead its requests elsewhere, tell others of them, or loosen its sandbox. */
import { invalid, isObject, type Entry, type Json, type JsonObject } from '../../../src/contract/index.ts'

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

const FIELDS: ReadonlySet<string> = new Set([
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
])
/** Those that change what the agent can do on its own machine. */
const FEATURES: ReadonlySet<string> = new Set([
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
])
const WEB_SEARCH = ['disabled', 'cached', 'indexed', 'live']

/** The entries are looked at one by one, since the merged settings no longer say whose a field was. */
export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const { id, name, config } of entries) if (name === 'config' && isObject(config['data'])) refuseIn(id, config['data'])
}

function refuseIn(id: string, data: JsonObject): void {
  for (const field of Object.keys(data)) if (!FIELDS.has(field)) throw refused(id, field, `a tree may set: ${[...FIELDS].join(', ')}`)
  const { features, web_search } = data
  if (features !== undefined) refuseFeatures(id, features)
  if (web_search !== undefined && !WEB_SEARCH.some((mode) => mode === web_search))
    throw refused(id, 'web_search', `it is one of ${WEB_SEARCH.join(', ')}`)
}

function refuseFeatures(id: string, features: Json): void {
  if (!isObject(features)) throw refused(id, 'features', 'it is a table of switches')
  for (const [feature, value] of Object.entries(features)) {
    if (!FEATURES.has(feature)) throw refused(id, `features.${feature}`, `a tree may switch: ${[...FEATURES].join(', ')}`)
    if (typeof value !== 'boolean') throw refused(id, `features.${feature}`, 'it is true or false')
  }
}

const refused = (id: string, field: string, cure: string): Error =>
  invalid('setting_refused', `${id}: config data ${field} is refused in a tree of codex; ${cure}`)
