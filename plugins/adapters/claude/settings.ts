/** Which of Claude Code's settings a tree may choose, and how they must look. */
import { z } from 'zod'
import type { Entry, JsonObject } from '../../../src/contract/index.ts'
import { settingRefused, settingsIn } from '../../../src/harness/index.ts'

/** Nothing leaves the machine but what is asked of the model, and the program stays the pinned one. */
export const DEFAULTS: JsonObject = {
  disableDeepLinkRegistration: 'disable',
  env: {
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
  },
  includeCoAuthoredBy: false,
}

/** Variables that say where the model is, whose account pays, which folder is read, or who is told of the session. */
const KEPT_VARIABLE =
  /^(?:ANTHROPIC_.*|AWS_.*|GOOGLE_.*|AZURE_.*|OTEL_.*|SVC_.*|.*_PROXY|NODE_.*|CLAUDE_CONFIG_DIR|CLAUDE_CODE_(?:USE|SKIP|ENABLE_TELEMETRY|API|OAUTH|EXTRA|SUBAGENT_MODEL|CLIENT|DISABLE_NONESSENTIAL).*|DISABLE_.*|.*VERTEX.*|.*BEDROCK.*|.*FOUNDRY.*)$/i

const texts = z.array(z.string())
const hook = z.strictObject({ type: z.literal('command'), command: z.string(), timeout: z.number().positive().optional() })
const variable = z.string().refine((name) => !KEPT_VARIABLE.test(name), 'this variable is not a tree’s to set; remove it')

/**
 * A list of what is allowed, with its types, since Claude Code ignores the whole file when one field in it is of the wrong type: with it the
 * address of the model, so that a session would go on with the person's own account, unrecorded.
 */
const Settings = z.strictObject({
  alwaysThinkingEnabled: z.boolean().optional(),
  cleanupPeriodDays: z.int().positive().optional(),
  effortLevel: z.enum(['low', 'medium', 'high', 'xhigh']).optional(),
  env: z.record(variable, z.string()).optional(),
  hooks: z.record(z.string(), z.array(z.strictObject({ matcher: z.string().optional(), hooks: z.array(hook) }))).optional(),
  language: z.string().optional(),
  outputStyle: z.string().optional(),
  permissions: z
    .strictObject({
      additionalDirectories: texts.optional(),
      allow: texts.optional(),
      ask: texts.optional(),
      defaultMode: z.enum(['acceptEdits', 'default', 'plan']).optional(),
      deny: texts.optional(),
    })
    .optional(),
  respectGitignore: z.boolean().optional(),
  showThinkingSummaries: z.boolean().optional(),
  spinnerTipsEnabled: z.boolean().optional(),
  statusLine: z.strictObject({ type: z.literal('command'), command: z.string(), padding: z.number().optional() }).optional(),
})

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const { id, data } of settingsIn(entries)) {
    const [problem] = Settings.safeParse(data).error?.issues ?? []
    if (problem !== undefined) throw settingRefused(id, where(problem), cure(problem))
  }
}

type Problem = z.core.$ZodIssue

function where({ path, ...problem }: Problem): string {
  return [...path, ...(problem.code === 'unrecognized_keys' ? problem.keys.slice(0, 1) : [])].join('.')
}

function cure(problem: Problem): string {
  if (problem.code === 'unrecognized_keys')
    return problem.path.length === 0 ? `a tree may set: ${Object.keys(Settings.shape).join(', ')}` : 'there is no such field; remove it'
  if (problem.code === 'invalid_key') return problem.issues[0]?.message ?? problem.message
  return problem.message
}
