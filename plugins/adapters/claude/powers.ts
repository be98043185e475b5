/** What entries for Claude Code could do on a machine. */
import type { AdapterPowers } from '../../../src/contract/index.ts'
import { IMPORTS, powersFor, PROGRAMS } from '../../../src/harness/index.ts'

export const POWERS: AdapterPowers = {
  kinds: { rules: ['words'], skill: ['words'], agent_command: ['words'], code_extension: ['runs'] },
  settings: {
    ...powersFor(['words'], 'primary.', 'alwaysThinkingEnabled', 'effortLevel', 'language', 'showThinkingSummaries', 'spinnerTipsEnabled'),
    ...powersFor(['words'], 'primary.env.', 'BASH_DEFAULT_TIMEOUT_MS', 'BASH_MAX_OUTPUT_LENGTH', 'BASH_MAX_TIMEOUT_MS'),
    ...powersFor(['words'], 'primary.env.', 'CLAUDE_CODE_MAX_OUTPUT_TOKENS', 'MAX_THINKING_TOKENS'),
    // It deletes sessions that are older.
    'primary.cleanupPeriodDays': ['removes'],
    'primary.hooks': ['runs'],
    // A style replaces the system prompt.
    'primary.outputStyle': ['grants'],
    'primary.permissions': ['grants'],
    'primary.respectGitignore': ['reads'],
  },
  head: {
    ...powersFor(
      ['words'],
      '',
      'name',
      'description',
      'argument-hint',
      'arguments',
      'when_to_use',
      'version',
      'license',
      'effort',
      'paths',
    ),
    'disable-model-invocation': ['words'],
    'user-invocable': ['hidden'],
    shell: ['runs'],
    ...powersFor(['grants'], '', 'allowed-tools', 'disallowed-tools', 'context', 'agent', 'background'),
  },
  texts: [
    IMPORTS,
    PROGRAMS,
    // An open comment hides the rules of later entries too.
    { pattern: /<!--/, power: 'hidden', why: 'a comment, which Claude Code takes out of rules' },
  ],
}
