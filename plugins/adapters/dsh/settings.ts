/** The rows of DeepSeek Harness that a tree may patch. Others choose the model, start programs, read outside the tree, or limit a session. */
import { z } from 'zod'
import { invalid, type Entry } from '../../../src/contract/index.ts'
import { every, refuseFields, refuseOthers, settings, settingsIn, WHY, type RefusedFields } from '../../../src/harness/index.ts'

/** Rows reserved for the service: the model, and what every session writes and sends. */
const OURS: RefusedFields = [
  [WHY.namesModel, 'agent-default-model', 'llm-deepseek', 'llm-pi-ai'],
  [WHY.isFixed, 'session-persistence-jsonl', 'session-telemetry-otel', 'session-title-llm'],
]

const flag = z.boolean()
const count = z.int().nonnegative()
const text = z.string()
const texts = z.array(text)

/** A row may only disable a plug-in or replace its config: a name would load other code, an expression would run it. */
const row = (config: z.ZodRawShape): z.ZodType => settings({ config: settings(config), disabled: flag })

const ROWS = settings({
  'agent-instructions': row({ maxBytes: count, maxSourceBytes: count }),
  ...every(row({}), 'command-compact', 'command-goal', 'tool-subagent', 'tool-subagent-control', 'tool-subagent-fork'),
  ...every(row({}), 'tool-subagent-list-agents', 'tool-subagent-report'),
  'compaction-basic': row({
    auto: flag,
    ...every(count, 'compactionRetries', 'maxTokens', 'retainTokens'),
    ...every(z.number(), 'retainRatio', 'thresholdRatio'),
  }),
  'plan-mode': row({ section: text }),
  'repeat-tool-reminder': row({ argumentsPreviewChars: count, exclude: texts, include: texts, thresholds: z.array(count) }),
  'spill-policy': row({ maxInlineBytes: count }),
  'system-prompt': row({ includeHarnessIdentity: flag, includeRuntimeContext: flag, persona: text, toolOrder: texts }),
  'tool-bash': row({ enableRunInBackground: flag }),
  'tool-fs': row({ readLimit: count, readMaxBytes: count, readMaxLineLength: count }),
  'tool-fs-search': row({ globMaxResults: count, grepMaxLineBytes: count, grepMaxMatches: count, sampleOverCapGlobResults: flag }),
  'tool-goal': row({ blockedAfterConsecutiveRounds: count }),
  'tool-jobs': row({ maxConsecutiveWakes: count, maxWaitTimeoutMs: count, waitTimeoutMs: count }),
  'tool-ralph': row({ maxHandoffChars: count, maxResultChars: count, maxRounds: count }),
  'tool-result-pruner': row({ headChars: count, tailChars: count, thresholdChars: count }),
  'tool-skill': row({ catalogDescriptionMaxLength: count }),
  'tool-str-replace-editor': row({ description: text, maxOutputChars: count }),
  'tool-todo': row({ allowParallelInProgress: flag }),
  'tool-web': row({ fetch: flag, fetchMaxOutputChars: count, fetchTimeoutMs: count, search: flag, searchMaxResults: count }),
  'tool-workflow': row({ maxResultChars: count }),
})

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) {
    if (setting.target === 'env')
      throw invalid('setting_refused', `${setting.id}: config.target env is refused: its variables are the service's; leave it out`)
    refuseFields(setting, OURS)
    refuseOthers(setting, ROWS)
  }
}
