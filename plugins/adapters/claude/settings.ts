/** The settings of Claude Code that a tree may set, with their types. */
import { z } from 'zod'
import type { Entry, JsonObject } from '../../../src/contract/index.ts'
import {
  between,
  every,
  refuseFields,
  refuseHeadField,
  refuseOthers,
  settings,
  settingsIn,
  WHY,
  type RefusedFields,
} from '../../../src/harness/index.ts'

/** No telemetry and no updates. */
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

const REFUSED: RefusedFields = [
  [WHY.namesModel, 'model'],
  [
    WHY.runsProgram,
    'apiKeyHelper',
    'awsAuthRefresh',
    'awsCredentialExport',
    'gcpAuthRefresh',
    'otelHeadersHelper',
    'fileSuggestion',
    'hooks',
    'mcpServers',
    'statusLine',
    'subagentStatusLine',
  ],
  [WHY.loadsCode, 'enabledPlugins', 'extraKnownMarketplaces'],
]

const flag = z.boolean()
const text = z.string()
/** Claude Code drops a rule that it cannot read, also one that denies; and a rule is for one tool, written out. */
const RULE = /^(?:[A-Z][A-Za-z]*(?:\((?! *\))[^()\p{Cc}]+\))?|mcp__[A-Za-z0-9_-]+(?:__\*)?)$/u
const rules = z.array(
  text.regex(RULE, { error: 'it is the name of a tool, with a pattern in parentheses or none, such as Bash(git status)' }).refine(isRead, {
    error: 'the pattern is not one of its tool; leave :* to Bash, and write domain: before the host of WebFetch',
  }),
)
const digits = (least: number, most: number): z.ZodType =>
  text.regex(/^\d{1,9}$/, { error: 'it is a number, written as text' }).refine((value) => Number(value) >= least && Number(value) <= most, {
    error: `it is a number from ${least} to ${most}, written as text`,
  })

/**
 * Types are checked, since Claude Code ignores the whole file when one field has the wrong type. It would then ignore the model's address too
 * and use the person's own account, unrecorded.
 */
const SETTINGS = settings({
  ...every(flag, 'alwaysThinkingEnabled', 'respectGitignore', 'showThinkingSummaries', 'spinnerTipsEnabled'),
  cleanupPeriodDays: between(1, 3_650),
  effortLevel: z.enum(['low', 'medium', 'high', 'xhigh']),
  // Every program of a session inherits these, and many variables load code or redirect requests: only sizes and times are allowed.
  env: settings({
    ...every(digits(1_000, 3_600_000), 'BASH_DEFAULT_TIMEOUT_MS', 'BASH_MAX_TIMEOUT_MS'),
    BASH_MAX_OUTPUT_LENGTH: digits(1_000, 1_000_000),
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: digits(1_000, 200_000),
    MAX_THINKING_TOKENS: digits(0, 200_000),
  }),
  language: text,
  outputStyle: text,
  // Rules may allow single things. Only the user may allow everything or add folders.
  permissions: settings({ allow: rules, ask: rules, defaultMode: z.enum(['acceptEdits', 'default', 'plan']), deny: rules }),
})

/** Which patterns a tool has. */
function isRead(rule: string): boolean {
  const [, tool = '', pattern] = /^([^(]+)\((.*)\)$/.exec(rule) ?? []
  if (pattern === undefined) return true
  if (tool === 'WebFetch') return /^domain:./.test(pattern)
  return pattern.includes(':*') ? tool === 'Bash' && pattern.indexOf(':*') > 0 : true
}

/** The only entry that may name a program; the id is reserved for the service. */
const SHIPPED = 'svc-version-check'

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) {
    if (setting.id === SHIPPED) continue
    refuseFields(setting, REFUSED)
    refuseOthers(setting, SETTINGS)
  }
}

/** Hooks in front matter are programs like those in the settings. */
export const refuseHooks = refuseHeadField('hooks', WHY.runsProgram)
