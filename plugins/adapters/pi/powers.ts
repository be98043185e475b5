/** What entries for pi could do on a machine. */
import type { AdapterPowers } from '../../../src/contract/index.ts'
import { IMPORTS, powersFor } from '../../../src/harness/index.ts'

export const POWERS: AdapterPowers = {
  kinds: { rules: ['words'], skill: ['words'], agent_command: ['words'], code_extension: ['runs'] },
  settings: {
    ...powersFor(['words'], 'primary.', 'branchSummary', 'compaction', 'defaultThinkingLevel', 'enableSkillCommands', 'followUpMode'),
    ...powersFor(['words'], 'primary.', 'httpIdleTimeoutMs', 'images', 'retry', 'steeringMode', 'thinkingBudgets'),
    ...powersFor(['grants'], 'primary.', 'branchSummary.skipPrompt', 'defaultTools'),
    // Without them a long session ends, at its limit or at the first error, and pictures are not seen.
    ...powersFor(['removes'], 'primary.', 'compaction.enabled', 'retry.enabled', 'images.blockImages'),
    'primary.hideThinkingBlock': ['hidden'],
  },
  head: {
    ...powersFor(['words'], '', 'name', 'description', 'argument-hint', 'license', 'compatibility', 'metadata'),
    'disable-model-invocation': ['words'],
    'allowed-tools': ['grants'],
  },
  texts: [
    IMPORTS,
    {
      pattern: /^[^\S\n\r\u2028\u2029]*!/,
      power: 'runs',
      why: 'a line that begins with !, which pi runs as a command where a person types it',
    },
  ],
}
