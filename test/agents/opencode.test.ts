/** The real opencode, through its wrapper. */
import { tell } from './support/story.ts'

const EXTENSION = `export const mark = async () => ({
  'experimental.chat.system.transform': async (_input, output) => { output.system.push('MARK_EXTENSION') },
})`

/** opencode was used here before: it would install packages for plugins into its own folder at its first start, wherever its settings are. */
const USED_BEFORE = {
  '.config/opencode/package-lock.json': '{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}',
  '.config/opencode/node_modules/.keep': '',
}

tell({
  adapter: 'opencode',
  api: 'openai',
  seed: [{ id: 'mark-extension', name: 'code_extension', config: { name: 'mark-extension', code: EXTENSION } }],
  home: USED_BEFORE,
  shell: (command) => ({ tool: 'bash', input: { command, description: 'Prints a mark' } }),
  prompt: (text) => ['run', '--title', 'marked', text],
  command: ['run', '--title', 'marked', '--command', 'mark-command', 'one', 'two'],
  skill: ['run', '--title', 'marked', '--command', 'mark-skill'],
})
