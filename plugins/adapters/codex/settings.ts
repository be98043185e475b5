/** The settings of Codex that a tree may set. Others could redirect requests, report them, run a program, or loosen its sandbox. */
import { z } from 'zod'
import type { Entry, JsonObject } from '../../../src/contract/index.ts'
import { NAMES_MODEL, refuseFields, refuseOthers, settings, settingsIn } from '../../../src/harness/index.ts'

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
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['model', NAMES_MODEL],
  ['model_provider', NAMES_MODEL],
  ['model_providers', NAMES_MODEL],
  ['hooks', STARTS_PROGRAM],
  ['mcp_servers', STARTS_PROGRAM],
  ['notify', STARTS_PROGRAM],
  ['projects', 'which folders are trusted is for the person to say; remove the field'],
])

const flag = z.boolean()
const count = z.int().nonnegative()
const text = z.string()
/** A slash could lead outside the project. */
const fileName = text.regex(/^(?!\.{1,2}$)[^/\\]+$/, { error: 'it is the name of a file, without a folder' })

const SETTINGS = settings({
  background_terminal_max_timeout: count,
  compact_prompt: text,
  developer_instructions: text,
  // Features that change what the agent can do on the machine.
  features: settings({
    goals: flag,
    multi_agent: flag,
    multi_agent_v2: flag,
    shell_snapshot: flag,
    shell_tool: flag,
    skill_search: flag,
    sleep_tool: flag,
    unified_exec: flag,
    unified_exec_tty: flag,
    view_image: flag,
  }),
  hide_agent_reasoning: flag,
  include_environment_context: flag,
  include_permissions_instructions: flag,
  model_auto_compact_token_limit: count,
  model_context_window: count,
  model_reasoning_effort: text,
  model_reasoning_summary: text,
  model_verbosity: text,
  personality: text,
  plan_mode_reasoning_effort: text,
  project_doc_fallback_filenames: z.array(fileName),
  project_doc_max_bytes: count,
  show_raw_agent_reasoning: flag,
  tool_output_token_limit: count,
  tools: settings({ view_image: flag }),
  web_search: z.enum(['disabled', 'cached', 'indexed', 'live']),
})

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) {
    refuseFields(setting, REFUSED)
    refuseOthers(setting, SETTINGS)
  }
}
