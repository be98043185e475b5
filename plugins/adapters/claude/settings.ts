/** The settings of Claude Code that a tree may set, with their types. */
import { z } from 'zod'
import { invalid, type Entry, type JsonObject } from '../../../src/contract/index.ts'
import {
  every,
  refuseFields,
  refuseOthers,
  settings,
  settingsIn,
  WHY,
  type HeadCheck,
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
const texts = z.array(text)
const digits = text.regex(/^\d{1,9}$/, { error: 'it is a number, written as text' })

/**
 * Types are checked, since Claude Code ignores the whole file when one field has the wrong type. It would then ignore the model's address too
 * and use the person's own account, unrecorded.
 */
const SETTINGS = settings({
  ...every(flag, 'alwaysThinkingEnabled', 'respectGitignore', 'showThinkingSummaries', 'spinnerTipsEnabled'),
  cleanupPeriodDays: z.int().positive(),
  effortLevel: z.enum(['low', 'medium', 'high', 'xhigh']),
  // Every program of a session inherits these, and many variables load code or redirect requests: only sizes and times are allowed.
  env: settings({
    ...every(digits, 'BASH_DEFAULT_TIMEOUT_MS', 'BASH_MAX_OUTPUT_LENGTH', 'BASH_MAX_TIMEOUT_MS'),
    ...every(digits, 'CLAUDE_CODE_MAX_OUTPUT_TOKENS', 'MAX_THINKING_TOKENS'),
  }),
  language: text,
  outputStyle: text,
  // Rules may allow single things. Only the user may allow everything or add folders.
  permissions: settings({ allow: texts, ask: texts, defaultMode: z.enum(['acceptEdits', 'default', 'plan']), deny: texts }),
})

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
export const refuseHooks: HeadCheck = ({ id }, { hooks }) => {
  if (hooks !== undefined) throw invalid('setting_refused', `${id}: hooks in the front matter is refused: ${WHY.runsProgram}`)
}
