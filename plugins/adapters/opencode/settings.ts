/** The settings of opencode that a tree may set. Others could choose the model, run a program, read outside the tree, or share a session. */
import { z } from 'zod'
import { invalid, type Entry, type JsonObject } from '../../../src/contract/index.ts'
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

/** No sharing, no updates, and no other provider. Permissions stay opencode's own: it asks before it reads .env or leaves the project. */
export const DEFAULTS: JsonObject = { autoupdate: false, enabled_providers: ['svc'], share: 'disabled' }

const REFUSED: RefusedFields = [
  [WHY.namesModel, 'model', 'small_model', 'provider', 'enabled_providers', 'disabled_providers', 'enterprise'],
  [WHY.isFixed, 'autoupdate', 'share', 'autoshare'],
  [WHY.loadsCode, 'plugin'],
  [WHY.runsProgram, 'formatter', 'lsp', 'mcp', 'shell'],
  ['write an agent_command entry instead', 'command'],
  [WHY.readsOutside, 'instructions', 'reference', 'references', 'skills'],
]

const flag = z.boolean()
const text = z.string()
const texts = z.array(text)
const switches = z.record(text, flag)
const action = z.enum(['allow', 'ask', 'deny'])
/** opencode does not start where one of these has patterns. */
const WITHOUT_PATTERNS = ['doom_loop', 'question', 'todoread', 'todowrite', 'webfetch', 'websearch', 'codesearch']
const byTool = z
  .record(text, z.union([action, z.record(text, action)]))
  .refine((tools) => WITHOUT_PATTERNS.every((tool) => typeof tools[tool] !== 'object'))
const permission = z.union([action, byTool], {
  error: `it is allow, ask or deny, for all tools or by tool and pattern; without patterns: ${WITHOUT_PATTERNS.join(', ')}`,
})
const COLORS = ['primary', 'secondary', 'accent', 'success', 'warning', 'error', 'info']
const color = text.refine((value) => COLORS.includes(value) || /^#[0-9a-fA-F]{6}$/.test(value), {
  error: `it is #rrggbb or one of ${COLORS.join(', ')}`,
})
const agentName = text.regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, { error: "an agent's name is letters, digits, '.', '_' and '-'" })

/** opencode sends unknown fields of an agent to the model with every request, so they are refused. */
const agent = settings({
  ...every(text, 'description', 'prompt'),
  ...every(flag, 'disable', 'hidden'),
  ...every(BOUNDS.rounds, 'maxSteps', 'steps'),
  color,
  temperature: shareBetween(0, 2),
  top_p: shareBetween(0, 1),
  mode: z.enum(['subagent', 'primary', 'all']),
  permission,
  tools: switches,
})

const SETTINGS = settings({
  agent: z.record(agentName, agent),
  compaction: settings({
    ...every(flag, 'auto', 'prune'),
    ...every(BOUNDS.keptTokens, 'preserve_recent_tokens', 'reserved'),
    tail_turns: BOUNDS.few,
  }),
  default_agent: text,
  experimental: settings({ batch_tool: flag, continue_loop_on_deny: flag, primary_tools: texts }),
  permission,
  snapshot: flag,
  subagent_depth: between(0, 10),
  tool_output: settings({ max_bytes: BOUNDS.bytes, max_lines: BOUNDS.lines }),
  tools: switches,
})

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) {
    refuseFields(setting, REFUSED)
    refuseTexts(setting, READING, 'it reads a variable or a file of the machine with {env:…} or {file:…}; write the text itself')
    refuseOthers(setting, SETTINGS)
  }
}

/** The binding is text of the same file. */
export function refuseReading(model: string): string {
  if (READING.test(model))
    throw invalid('bad_model', "opencode reads a variable or a file in place of {env:…} or {file:…} in a model's name; use another")
  return model
}

/** opencode replaces these by variables and files of the machine, which would reach the model. */
const READING = /\{\s*(?:env|file)\s*:/i
