/** The settings of Hermes that a tree may set. Others could choose the model, run a program or read outside the tree, or are the person's own. */
import { z } from 'zod'
import type { Entry } from '../../../src/contract/index.ts'
import {
  every,
  refuseFields,
  refuseOthers,
  refuseTexts,
  settings,
  settingsIn,
  WHY,
  type RefusedFields,
} from '../../../src/harness/index.ts'

const ROUTES = ['model', 'providers', 'custom_providers', 'fallback_model', 'fallback_providers', 'auxiliary', 'moa', 'smart_model_routing']
const REFUSED: RefusedFields = [
  [WHY.namesModel, ...ROUTES],
  [WHY.runsProgram, 'hooks', 'lsp', 'mcp_servers', 'quick_commands'],
  [WHY.loadsCode, 'plugins'],
]

const flag = z.boolean()
const count = z.int().nonnegative()
const share = z.number().min(0).max(1)
const text = z.string()
const texts = z.array(text)

const SETTINGS = settings({
  agent: settings({
    ...every(count, 'api_max_retries', 'max_turns'),
    ...every(text, 'reasoning_effort', 'system_prompt'),
    coding_instructions: z.union([text, texts], { error: 'it is a text or a list of texts' }),
    disabled_toolsets: texts,
    personalities: z.record(text, text),
    verbose: flag,
  }),
  checkpoints: settings({ enabled: flag, max_snapshots: count }),
  compression: settings({ enabled: flag, protect_first_n: count, protect_last_n: count, target_ratio: share, threshold: share }),
  delegation: settings({ max_concurrent_children: count, max_iterations: count, max_spawn_depth: count }),
  memory: settings({
    ...every(count, 'memory_char_limit', 'nudge_interval', 'user_char_limit'),
    ...every(flag, 'memory_enabled', 'user_profile_enabled'),
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
