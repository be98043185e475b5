/** The settings of Codex that a tree may set. Others could redirect requests, report them, run a program, or loosen its sandbox. */
import { z } from 'zod'
import type { Entry, JsonObject } from '../../../src/contract/index.ts'
import {
  between,
  BOUNDS,
  every,
  refuseFields,
  refuseOthers,
  settings,
  settingsIn,
  WHY,
  type RefusedFields,
} from '../../../src/harness/index.ts'

/** No telemetry, no update check, no vendor catalogs. */
export const DEFAULTS: JsonObject = {
  analytics: { enabled: false },
  check_for_update_on_startup: false,
  features: { apps: false, plugins: false },
  feedback: { enabled: false },
  otel: { exporter: 'none', log_user_prompt: false, metrics_exporter: 'none', trace_exporter: 'none' },
  sandbox_workspace_write: { network_access: false },
  web_search: 'disabled',
}

/** Programs that Codex starts itself run outside its sandbox, so no entry may name one. */
const STARTS_PROGRAM = 'it names a program to run outside the sandbox; set it in .codex/config.toml of your own project'
const REFUSED: RefusedFields = [
  [WHY.namesModel, 'model', 'model_provider', 'model_providers'],
  [STARTS_PROGRAM, 'hooks', 'mcp_servers', 'notify'],
  ['which folders are trusted is for the person to say; remove the field', 'projects'],
]

const flag = z.boolean()
const text = z.string()
/** A slash could lead outside the project. */
const fileName = text.regex(/^(?!\.{1,2}$)[^/\\]+$/, { error: 'it is the name of a file, without a folder' })

const SETTINGS = settings({
  background_terminal_max_timeout: BOUNDS.timeoutMs,
  ...every(between(8_000, 2_000_000), 'model_auto_compact_token_limit', 'model_context_window'),
  project_doc_max_bytes: between(0, 1_000_000),
  ...every(text, 'compact_prompt', 'developer_instructions'),
  // Codex drops the whole file for a value that it does not know.
  ...every(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']), 'model_reasoning_effort', 'plan_mode_reasoning_effort'),
  model_reasoning_summary: z.enum(['auto', 'concise', 'detailed', 'none']),
  model_verbosity: z.enum(['low', 'medium', 'high']),
  personality: z.enum(['none', 'friendly', 'pragmatic']),
  ...every(flag, 'hide_agent_reasoning', 'include_environment_context', 'include_permissions_instructions', 'show_raw_agent_reasoning'),
  // Features that change what the agent can do on the machine.
  features: settings({
    ...every(flag, 'goals', 'multi_agent', 'multi_agent_v2', 'shell_snapshot', 'shell_tool', 'skill_search', 'sleep_tool'),
    ...every(flag, 'unified_exec', 'unified_exec_tty', 'view_image'),
  }),
  project_doc_fallback_filenames: z.array(fileName),
  tool_output_token_limit: between(500, 200_000),
  tools: settings({ view_image: flag }),
  web_search: z.enum(['disabled', 'cached', 'indexed', 'live']),
})

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) {
    refuseFields(setting, REFUSED)
    refuseOthers(setting, SETTINGS)
  }
}
