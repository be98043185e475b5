/** The settings of Hermes that a tree may set. Others could choose the model, run a program or read outside the tree, or are the person's own. */
import { z } from 'zod'
import type { Entry } from '../../../src/contract/index.ts'
import {
  LOADS_CODE,
  NAMES_MODEL,
  refuseFields,
  refuseOthers,
  refuseTexts,
  RUNS_PROGRAM,
  settings,
  settingsIn,
} from '../../../src/harness/index.ts'

const ROUTES = [
  'model',
  'providers',
  'custom_providers',
  'fallback_model',
  'fallback_providers',
  'auxiliary',
  'moa',
  'smart_model_routing',
] as const
const PROGRAMS = ['hooks', 'lsp', 'mcp_servers', 'quick_commands'] as const
const REFUSED: ReadonlyMap<string, string> = new Map([
  ...ROUTES.map((field) => [field, NAMES_MODEL] as const),
  ...PROGRAMS.map((field) => [field, RUNS_PROGRAM] as const),
  ['plugins', LOADS_CODE],
])

const flag = z.boolean()
const count = z.int().nonnegative()
const share = z.number().min(0).max(1)
const text = z.string()
const texts = z.array(text)

const SETTINGS = settings({
  agent: settings({
    api_max_retries: count,
    coding_instructions: z.union([text, texts], { error: 'it is a text or a list of texts' }),
    disabled_toolsets: texts,
    max_turns: count,
    personalities: z.record(text, text),
    reasoning_effort: text,
    system_prompt: text,
    verbose: flag,
  }),
  checkpoints: settings({ enabled: flag, max_snapshots: count }),
  compression: settings({ enabled: flag, protect_first_n: count, protect_last_n: count, target_ratio: share, threshold: share }),
  delegation: settings({ max_concurrent_children: count, max_iterations: count, max_spawn_depth: count }),
  memory: settings({
    memory_char_limit: count,
    memory_enabled: flag,
    nudge_interval: count,
    user_char_limit: count,
    user_profile_enabled: flag,
  }),
  platform_toolsets: settings({ cli: texts }),
  skills: settings({ creation_nudge_interval: count, disabled: texts, template_vars: flag }),
  tool_output: settings({ max_bytes: count, max_line_length: count, max_lines: count }),
})

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) {
    refuseFields(setting, REFUSED)
    refuseTexts(setting, /\$\{/, 'Hermes puts a variable of the machine in the place of ${…}; write the text itself')
    refuseOthers(setting, SETTINGS)
  }
}
