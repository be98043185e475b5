/** The settings of pi that a tree may set. Others could choose the model, name a program or read outside the tree, or are the person's own. */
import { z } from 'zod'
import type { Entry } from '../../../src/contract/index.ts'
import { BOUNDS, every, refuseFields, refuseOthers, settings, settingsIn, WHY, type RefusedFields } from '../../../src/harness/index.ts'

const REFUSED: RefusedFields = [
  [WHY.namesModel, 'providers', 'defaultProvider', 'defaultModel', 'enabledModels'],
  ['it leads requests to the model elsewhere; remove the field', 'httpProxy'],
  [WHY.loadsCode, 'packages', 'extensions'],
  [WHY.runsProgram, 'externalEditor', 'npmCommand', 'shellCommandPrefix', 'shellPath'],
  [WHY.readsOutside, 'skills', 'prompts'],
]

const flag = z.boolean()
const queue = z.enum(['all', 'one-at-a-time'])

const PRIMARY = settings({
  branchSummary: settings({ reserveTokens: BOUNDS.keptTokens, skipPrompt: flag }),
  compaction: settings({ enabled: flag, ...every(BOUNDS.keptTokens, 'keepRecentTokens', 'reserveTokens') }),
  defaultThinkingLevel: z.enum(['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']),
  defaultTools: z.array(z.string()),
  enableSkillCommands: flag,
  followUpMode: queue,
  hideThinkingBlock: flag,
  httpIdleTimeoutMs: BOUNDS.timeoutMs,
  images: settings({ autoResize: flag, blockImages: flag }),
  retry: settings({
    ...every(BOUNDS.delayMs, 'baseDelayMs', 'maxAgentDelayMs'),
    enabled: flag,
    maxRetries: BOUNDS.retries,
    provider: settings({ maxRetries: BOUNDS.retries, maxRetryDelayMs: BOUNDS.delayMs, timeoutMs: BOUNDS.timeoutMs }),
  }),
  steeringMode: queue,
  thinkingBudgets: settings(every(BOUNDS.budgetTokens, 'high', 'low', 'medium', 'minimal')),
})

/** A tree may set nothing in `models.json`. */
const MODELS = settings({})

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) {
    refuseFields(setting, REFUSED)
    refuseOthers(setting, setting.target === 'primary' ? PRIMARY : MODELS)
  }
}
