/** The real Codex, through its wrapper. Its commands are skills, and it has no extensions. */
import { tell } from './support/story.ts'

const EXEC = ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access']

tell({
  adapter: 'codex',
  api: 'responses',
  seed: [],
  shell: (cmd) => ({ tool: 'exec_command', input: { cmd } }),
  memory: '.codex/AGENTS.md',
  prompt: (text) => [...EXEC, text],
  command: [...EXEC, '$mark-command one two'],
  skill: [...EXEC, '$mark-skill'],
})
