/** The rows of DeepSeek Harness that a tree may patch. Others choose the model, start programs, read outside the tree, or limit a session. */
import { z } from 'zod'
import { invalid, type Entry } from '../../../src/contract/index.ts'
import {
  between,
  BOUNDS,
  every,
  refuseFields,
  refuseOthers,
  settings,
  settingsIn,
  shareBetween,
  WHY,
  type RefusedFields,
} from '../../../src/harness/index.ts'

/** Rows reserved for the service: the model, and what every session writes and sends. */
const OURS: RefusedFields = [
  [WHY.namesModel, 'agent-default-model', 'llm-deepseek', 'llm-pi-ai'],
  [WHY.isFixed, 'session-persistence-jsonl', 'session-telemetry-otel', 'session-title-llm'],
]

const flag = z.boolean()
/** The part of an output that is shown, in characters. */
const shown = between(100, 10_000_000)
const text = z.string()
const texts = z.array(text)

/** A row may only disable a plug-in or replace its config: a name would load other code, an expression would run it. */
const row = (config: z.ZodRawShape): z.ZodType => settings({ config: settings(config), disabled: flag })

const ROWS = settings({
  'agent-instructions': row(every(between(0, 1_000_000), 'maxBytes', 'maxSourceBytes')),
  ...every(row({}), 'command-compact', 'command-goal', 'tool-subagent', 'tool-subagent-control', 'tool-subagent-fork'),
  ...every(row({}), 'tool-subagent-list-agents', 'tool-subagent-report'),
  'compaction-basic': row({
    auto: flag,
    compactionRetries: BOUNDS.retries,
    maxTokens: BOUNDS.tokens,
    retainTokens: BOUNDS.keptTokens,
    retainRatio: shareBetween(0, 0.9),
    thresholdRatio: shareBetween(0.05, 0.95),
  }),
  'plan-mode': row({ section: text }),
  'repeat-tool-reminder': row({
    argumentsPreviewChars: between(0, 100_000),
    exclude: texts,
    include: texts,
    thresholds: z.array(BOUNDS.rounds),
  }),
  'spill-policy': row({ maxInlineBytes: BOUNDS.bytes }),
  'system-prompt': row({ includeHarnessIdentity: flag, includeRuntimeContext: flag, persona: text, toolOrder: texts }),
  'tool-bash': row({ enableRunInBackground: flag }),
  'tool-fs': row({ readLimit: BOUNDS.lines, readMaxBytes: BOUNDS.bytes, readMaxLineLength: BOUNDS.lineLength }),
  'tool-fs-search': row({
    ...every(BOUNDS.lines, 'globMaxResults', 'grepMaxMatches'),
    grepMaxLineBytes: BOUNDS.lineLength,
    sampleOverCapGlobResults: flag,
  }),
  'tool-goal': row({ blockedAfterConsecutiveRounds: BOUNDS.rounds }),
  'tool-jobs': row({ maxConsecutiveWakes: BOUNDS.few, ...every(BOUNDS.timeoutMs, 'maxWaitTimeoutMs', 'waitTimeoutMs') }),
  'tool-ralph': row({ ...every(shown, 'maxHandoffChars', 'maxResultChars'), maxRounds: BOUNDS.rounds }),
  'tool-result-pruner': row({ ...every(between(0, 1_000_000), 'headChars', 'tailChars'), thresholdChars: shown }),
  'tool-skill': row({ catalogDescriptionMaxLength: between(20, 100_000) }),
  'tool-str-replace-editor': row({ description: text, maxOutputChars: shown }),
  'tool-todo': row({ allowParallelInProgress: flag }),
  'tool-web': row({
    ...every(flag, 'fetch', 'search'),
    fetchMaxOutputChars: shown,
    fetchTimeoutMs: BOUNDS.timeoutMs,
    searchMaxResults: between(1, 100),
  }),
  'tool-workflow': row({ maxResultChars: shown }),
})

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) {
    if (setting.target === 'env')
      throw invalid('setting_refused', `${setting.id}: config.target env is refused: its variables are the service's; leave it out`)
    refuseFields(setting, OURS)
    refuseOthers(setting, ROWS)
  }
}
