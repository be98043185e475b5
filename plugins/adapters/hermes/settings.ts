/** The settings of Hermes that a tree may set. Others could choose the model, run a program or read outside the tree, or are the person's own. */
import { z } from 'zod'
import type { Entry } from '../../../src/contract/index.ts'
import {
  between,
  BOUNDS,
  every,
  refuseFields,
  refuseOthers,
  refuseTexts,
  settings,
  settingsIn,
  shareBetween,
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
const share = shareBetween(0.05, 0.95)
const text = z.string()
const texts = z.array(text)

const SETTINGS = settings({
  agent: settings({
    api_max_retries: BOUNDS.retries,
    max_turns: BOUNDS.rounds,
    ...every(text, 'reasoning_effort', 'system_prompt'),
    coding_instructions: z.union([text, texts], { error: 'it is a text or a list of texts' }),
    disabled_toolsets: texts,
    personalities: z.record(text, text),
    verbose: flag,
  }),
  checkpoints: settings({ enabled: flag, max_snapshots: BOUNDS.rounds }),
  compression: settings({
    enabled: flag,
    ...every(BOUNDS.few, 'protect_first_n', 'protect_last_n'),
    ...every(share, 'target_ratio', 'threshold'),
  }),
  delegation: settings({
    max_concurrent_children: between(0, 32),
    max_iterations: BOUNDS.rounds,
    max_spawn_depth: between(0, 10),
  }),
  memory: settings({
    ...every(between(0, 100_000), 'memory_char_limit', 'nudge_interval', 'user_char_limit'),
    ...every(flag, 'memory_enabled', 'user_profile_enabled'),
  }),
  platform_toolsets: settings({ cli: texts }),
  skills: settings({ creation_nudge_interval: between(0, 100_000), disabled: texts, template_vars: flag }),
  tool_output: settings({ max_bytes: BOUNDS.bytes, max_line_length: BOUNDS.lineLength, max_lines: BOUNDS.lines }),
})

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) {
    refuseFields(setting, REFUSED)
    refuseTexts(setting, /\$\{/, 'Hermes puts a variable of the machine in the place of ${…}; write the text itself')
    refuseOthers(setting, SETTINGS)
  }
}
