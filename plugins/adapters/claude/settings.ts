/** Which of Claude Code's settings a tree may choose, and how they must look. */
import { z } from 'zod'
import { invalid, type Entry, type JsonObject } from '../../../src/contract/index.ts'
import {
  type HeadCheck,
  LOADS_CODE,
  NAMES_MODEL,
  refuseFields,
  refuseOthers,
  RUNS_PROGRAM,
  settings,
  settingsIn,
} from '../../../src/harness/index.ts'

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

const REFUSED: ReadonlyMap<string, string> = new Map([
  ['model', NAMES_MODEL],
  ['apiKeyHelper', RUNS_PROGRAM],
  ['awsAuthRefresh', RUNS_PROGRAM],
  ['awsCredentialExport', RUNS_PROGRAM],
  ['gcpAuthRefresh', RUNS_PROGRAM],
  ['otelHeadersHelper', RUNS_PROGRAM],
  ['fileSuggestion', RUNS_PROGRAM],
  ['hooks', RUNS_PROGRAM],
  ['mcpServers', RUNS_PROGRAM],
  ['statusLine', RUNS_PROGRAM],
  ['subagentStatusLine', RUNS_PROGRAM],
  ['enabledPlugins', LOADS_CODE],
  ['extraKnownMarketplaces', LOADS_CODE],
])

const flag = z.boolean()
const text = z.string()
const texts = z.array(text)
const digits = text.regex(/^\d{1,9}$/, { error: 'it is a number, written as text' })

/**
 * A list of what is allowed, with its types, since Claude Code ignores the whole file when one field in it is of the wrong type: with it the
 * address of the model, so that a session would go on with the person's own account, unrecorded.
 */
const SETTINGS = settings({
  alwaysThinkingEnabled: flag,
  cleanupPeriodDays: z.int().positive(),
  effortLevel: z.enum(['low', 'medium', 'high', 'xhigh']),
  // Every program that a session starts gets them, and many a name makes one load code or ask elsewhere: these are but sizes and times.
  env: settings({
    BASH_DEFAULT_TIMEOUT_MS: digits,
    BASH_MAX_OUTPUT_LENGTH: digits,
    BASH_MAX_TIMEOUT_MS: digits,
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: digits,
    MAX_THINKING_TOKENS: digits,
  }),
  language: text,
  outputStyle: text,
  // A rule names what it lets pass. A mode that lets everything pass, or another folder to work in, is for the person at the keyboard to choose.
  permissions: settings({ allow: texts, ask: texts, defaultMode: z.enum(['acceptEdits', 'default', 'plan']), deny: texts }),
  respectGitignore: flag,
  showThinkingSummaries: flag,
  spinnerTipsEnabled: flag,
})

/** The one entry that may name a program: it is the service's own, and no seed or mutation can hold this id. */
const SHIPPED = 'svc-version-check'

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) {
    if (setting.id === SHIPPED) continue
    refuseFields(setting, REFUSED)
    refuseOthers(setting, SETTINGS)
  }
}

/** A skill or command may bring hooks of its own in its head; they are programs like those of the settings. */
export const refuseHooks: HeadCheck = ({ id }, { hooks }) => {
  if (hooks !== undefined) throw invalid('setting_refused', `${id}: hooks in the front matter is refused: ${RUNS_PROGRAM}`)
}
