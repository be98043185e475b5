/** The real pi, through its wrapper. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { unguarded } from './support/own-names.ts'
import { IS_SHORT } from '../support/short.ts'
import { tell } from './support/story.ts'
import type { AgentWorld } from './support/world.ts'

const EXTENSION = `export default (pi) => {
  pi.on('before_agent_start', (event) => ({ systemPrompt: event.systemPrompt + ' MARK_EXTENSION' }))
}`

tell({
  adapter: 'pi',
  api: 'openai',
  seed: [{ id: 'mark-extension', name: 'code_extension', config: { name: 'mark-extension', code: EXTENSION } }],
  shell: (command) => ({ tool: 'bash', input: { command } }),
  memory: '.pi/agent/AGENTS.md',
  prompt: (text) => ['-p', text],
  command: ['-p', '/mark-command one two'],
  skill: ['-p', '/skill:mark-skill'],
  more: tellEntries,
})

const ASK_FOR_COMMANDS = `printf '%s\\n' '{"type":"get_commands"}' | "$0" --mode rpc`

function tellEntries(world: () => AgentWorld): void {
  it('has no command of its own whose name an entry could take unseen', async () => {
    const code = `import { BUILTIN_SLASH_COMMANDS } from ${JSON.stringify(join(world().program, '../../@earendil-works/pi-coding-agent/dist/core/slash-commands.js'))}
process.stdout.write(JSON.stringify(BUILTIN_SLASH_COMMANDS.map(({ name }) => name)))`
    const { out } = await world().home.run(process.execPath, ['--input-type=module', '-e', code])
    const names: readonly string[] = JSON.parse(out)
    expect(names).toContain('settings')
    expect(await unguarded('pi', names)).toEqual([])
  })

  it.skipIf(IS_SHORT)('has the command by which a person asks for a change, and files what they ask', async () => {
    const { home, run, here, records } = world()
    const asked = here.upstream.received.length
    const listed = await home.run('sh', ['-c', ASK_FOR_COMMANDS, join(home.folder, '.local/bin/svc-pi')])
    expect(namesIn(listed.out)).toEqual(expect.arrayContaining(['svc', 'svc-versions', 'mark-command', 'skill:mark-skill']))
    expect(await run(['-p', '/svc Always say MARK_THREE.'])).toMatchObject({ code: 0 })
    expect((await records('train')).at(-1)?.payload).toMatchObject({ text: 'Always say MARK_THREE.' })
    expect(here.upstream.received.length).toBe(asked)
    expect(requestsIn(here)).toContain('/svc/train')
  })

  it.skipIf(IS_SHORT)('without its wrapper reads the same files, has no such command and sends no request', async () => {
    const { home, program, here } = world()
    const heard = requestsIn(here).length
    const files = { PI_CODING_AGENT_DIR: join(home.work, 'svc-harness/pi-agent') }
    const listed = await home.run('sh', ['-c', ASK_FOR_COMMANDS, program], files)
    expect(namesIn(listed.out)).toEqual(expect.arrayContaining(['mark-command', 'skill:mark-skill']))
    expect(namesIn(listed.out).filter((name) => name.startsWith('svc'))).toEqual([])
    expect(requestsIn(here).slice(heard)).toEqual([])
  })
}

/** The routes the service was asked for so far. */
const requestsIn = ({ log }: AgentWorld['here']): readonly unknown[] =>
  log.filter(({ event }) => event === 'request').map(({ route }) => route)

/** Of the answer: entries may have something to say beside it. */
function namesIn(out: string): readonly string[] {
  const lines: { type: string; data: { commands: readonly { name: string }[] } }[] = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return lines.find(({ type }) => type === 'response')?.data.commands.map(({ name }) => name) ?? []
}
