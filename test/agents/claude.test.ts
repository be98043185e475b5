/** The real Claude Code, through its wrapper. */
import { expect, it } from 'vitest'
import { isTurn, say } from './support/model.ts'
import { ANSWER } from './support/stage.ts'
import { tell } from './support/story.ts'

const EXTENSION = `import { readFileSync, writeSync } from 'node:fs'

const { hook_event_name: hookEventName } = JSON.parse(readFileSync(0, 'utf8'))
if (hookEventName === 'UserPromptSubmit')
  writeSync(1, JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext: 'MARK_EXTENSION' } }))
`

tell({
  adapter: 'claude',
  api: 'anthropic',
  seed: [
    { id: 'mark-extension', name: 'code_extension', config: { name: 'mark-extension', code: EXTENSION } },
    { id: 'mark-permission', name: 'config', config: { data: { permissions: { allow: ['Bash(printf:*)'] } } } },
  ],
  shell: (command) => ({ tool: 'Bash', input: { command, description: 'Prints a mark' } }),
  prompt: (text) => ['-p', text],
  command: ['-p', '/mark-command one two'],
  skill: ['-p', '/mark-skill'],
  more: (stage) => {
    it('hears of a newer release when it starts, and of none when it has the newest', async () => {
      const { session, run } = stage()
      const before = await session(['-p', 'Say it.'], say(ANSWER))
      expect(await run(['harness', 'Always say MARK_THREE.', '--wait'])).toMatchObject({ code: 0 })
      const after = await session(['-p', 'Say it again.'], say(ANSWER))
      expect(before.find(isTurn)?.body.toString()).not.toContain('A newer release of this harness is served')
      expect(after.find(isTurn)?.body.toString()).toContain('A newer release of this harness is served')
    })
  },
})
