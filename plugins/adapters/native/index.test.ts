/** The agent of our own: what a tree becomes, what is refused, how it is started and what it leaves. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Entry } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { entry, expectSettingRefused, itConforms, leave } from '../testing/adapter.ts'
import plugin from './index.ts'

const adapter = plugin.plugin

const tree: readonly Entry[] = [
  entry('window', 'config', { target: 'models', data: { context_window: 65_536 } }),
  entry('brief', 'rules', { text: 'Answer in one line.' }),
  entry('honest', 'rules', { text: 'Say when you do not know.' }),
  entry('counting', 'skill', { name: 'counting', text: '# Count aloud\n\nOne, two, three.' }),
  entry('add', 'native_tool', {
    name: 'add',
    description: 'Adds two numbers.',
    parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    capabilities: ['read'],
    code: 'export const run = ({ a, b }: { a: number; b: number }): number => a + b',
  }),
  entry('now', 'native_tool', { name: 'now', description: 'Tells the time.', code: 'export const run = (): number => Date.now()\n' }),
  entry('polite', 'native_hook', { name: 'polite', event: 'pre_step', code: 'export const decide = (): null => null' }),
  entry('way', 'native_graph', {
    name: 'way',
    start: 'think',
    max_steps: 8,
    stages: { think: { kind: 'model' }, act: { kind: 'tools', allow: ['add'] }, done: { kind: 'end', reason: 'completed' } },
    edges: [
      { from: 'think', outcome: 'tool_calls', to: 'act' },
      { from: 'act', outcome: 'done', to: 'think' },
      { from: 'think', outcome: 'text', to: 'done' },
    ],
  }),
  entry('clerk', 'native_agent', { name: 'clerk', prompt: 'You add numbers.', graph: 'way', tools: ['add'], skills: ['counting'] }),
  entry('round', 'native_loop', { name: 'round', code: 'export function runTurn(turn: unknown): unknown {\n  return turn\n}' }),
]

describe('native', () => {
  itConforms(adapter, tree)

  it('a declaration says what the entry says, whatever the code assigns', () => {
    const code = 'export const capabilities = ["exec"]\nexport const run = (): void => undefined'
    const files = renderTree(adapter, [entry('sly', 'native_tool', { name: 'sly', description: 'Harmless.', code })])
    expect(JSON.parse(files['native/tools/sly.json'] ?? '')).toEqual({
      name: 'sly',
      description: 'Harmless.',
      parameters: {},
      capabilities: [],
    })
  })

  it('a setting that it does not read is refused by name', () => {
    expectSettingRefused(adapter, 'temperature', { target: 'models', data: { temperature: 0 } })
  })

  it('a command and an extension have no place in it', () => {
    expect(() => renderTree(adapter, [entry('c', 'agent_command', { name: 'c', text: 'x' })])).toThrow('does not render agent_command')
    expect(() => renderTree(adapter, [entry('e', 'code_extension', { name: 'e', code: 'x' })])).toThrow('does not render code_extension')
  })

  it('it has nothing to install: its program comes with the service', () => {
    expect([adapter.install, adapter.client, adapter.shipped]).toEqual([undefined, undefined, undefined])
  })

  it('it gets its folder in a variable, and reads its session log in the order of the paths, but for half a last line', async () => {
    const root = temporaryFolder()
    expect(adapter.launch({ prompt: '-p' }, root)).toMatchObject({
      argv: ['svc-native', '-p', '-p'],
      env: { SVC_NATIVE_DIR: join(root, 'native') },
    })
    await leave(root, {
      'native/sessions/2.jsonl': '{"type":"turn/end","seq":1}\n{"type":"half',
      'native/sessions/1.jsonl': '{"type":"session","seq":0}\n',
      'native/other.jsonl': '{"type":"none"}\n',
    })
    expect(await adapter.readTrajectory(root)).toEqual([
      { type: 'session', seq: 0 },
      { type: 'turn/end', seq: 1 },
    ])
  })
})
