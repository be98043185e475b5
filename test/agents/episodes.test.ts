/** Each of the real agents plays an episode in the sandbox: started by its adapter, bound to the relay's address, scored by what it answered. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ModelApi } from '../../src/contract/index.ts'
import { program } from '../support/programs.ts'
import { until } from '../support/wait.ts'
import { thenAllSay, type Call } from './support/model.ts'
import { openAgentWorld } from './support/world.ts'

const AGENTS: readonly (readonly [adapter: string, api: ModelApi])[] = [
  ['pi', 'openai'],
  ['opencode', 'openai'],
  ['claude', 'anthropic'],
  ['codex', 'responses'],
]
const REQUEST = { text: 'Be friendly and keep a calm tone.', session: 's', release_id: 'r' }

let folder = ''
beforeAll(() => {
  program('bwrap')
  folder = mkdtempSync(join(tmpdir(), 'svc-episodes-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it.each(AGENTS)('%s answers', async (adapter, api) => {
  const settings = {
    recipe: 'harness',
    'inference.runtime': 'practice',
    'data.training_mode': 'manual',
    'evolution.executor': 'sandbox',
    'evolution.selection': 'floor',
    'evolution.seed': JSON.stringify([{ id: 'format', name: 'rules', config: { text: 'State the final answer alone on the last line.' } }]),
    'evolution.tasks': JSON.stringify([{ name: 'sum', prompt: 'What is 17 + 25?', answer: '42' }]),
    'evolution.proposals_dir': join(folder, 'proposals'),
    'evolution.step_record_dir': join(folder, 'steps'),
  }
  const world = await openAgentWorld({ adapter, api, seed: [], settings })
  try {
    await world.here.restart({ 'evolution.binary': world.program })
    await world.ask('POST', '/svc/train', REQUEST)
    await until(async () => (await world.catalog()).length > 1)
    const row = (await world.catalog()).at(-1)
    expect(row).toMatchObject({ result: 'published', candidate_score: 1, episode_failures: 0, evaluation_context: { adapter } })
  } finally {
    await world.close()
  }
})

const SHELL =
  "set -e; git init -q .; python3 -c \"import threading, subprocess; print(subprocess.check_output(['grep', '-c', 'beta', 'notes/a.txt']).decode().strip())\" > count.txt; " +
  'node -e "require(\'fs\').writeFileSync(\'node.txt\', process.version)"; find . -name "*.txt" | sort | xargs tar cf all.tar; echo shell-ran'
const IN = '/episode/workspace'

/** The agent's own tools: a shell, reading, writing, editing, searching. */
const TOOLS: readonly (readonly [adapter: string, api: ModelApi, calls: readonly Call[]])[] = [
  [
    'pi',
    'openai',
    [
      { tool: 'bash', input: { command: SHELL } },
      { tool: 'read', input: { path: 'notes/a.txt' } },
      { tool: 'write', input: { path: 'deep/made.txt', content: 'first line\n' } },
      { tool: 'edit', input: { path: 'deep/made.txt', edits: [{ oldText: 'first', newText: 'second' }] } },
      { tool: 'bash', input: { command: 'grep -rn beta notes' } },
    ],
  ],
  [
    'opencode',
    'openai',
    [
      { tool: 'bash', input: { command: SHELL, description: 'Runs programs' } },
      { tool: 'read', input: { filePath: `${IN}/notes/a.txt` } },
      { tool: 'write', input: { filePath: `${IN}/deep/made.txt`, content: 'first line\n' } },
      { tool: 'edit', input: { filePath: `${IN}/deep/made.txt`, oldString: 'first', newString: 'second' } },
      { tool: 'grep', input: { pattern: 'beta', path: IN } },
      { tool: 'glob', input: { pattern: '**/*.txt', path: IN } },
    ],
  ],
  [
    'claude',
    'anthropic',
    [
      { tool: 'Bash', input: { command: SHELL, description: 'Runs programs' } },
      { tool: 'Read', input: { file_path: `${IN}/notes/a.txt` } },
      { tool: 'Write', input: { file_path: `${IN}/deep/made.txt`, content: 'first line\n' } },
      { tool: 'Edit', input: { file_path: `${IN}/deep/made.txt`, old_string: 'first', new_string: 'second' } },
      { tool: 'Bash', input: { command: 'grep -rn beta notes', description: 'Searches' } },
    ],
  ],
  [
    'codex',
    'responses',
    [
      { tool: 'exec_command', input: { cmd: SHELL } },
      { tool: 'exec_command', input: { cmd: 'cat notes/a.txt' } },
      { tool: 'exec_command', input: { cmd: patchOf('Add File', '+first line') } },
      { tool: 'exec_command', input: { cmd: patchOf('Update File', '@@\n-first line\n+second line') } },
      { tool: 'exec_command', input: { cmd: 'grep -rn beta notes' } },
    ],
  ],
]

function patchOf(what: string, lines: string): string {
  return `apply_patch <<'EOF'\n*** Begin Patch\n*** ${what}: deep/made.txt\n${lines}\n*** End Patch\nEOF`
}

const WORK = {
  name: 'work',
  prompt: 'Do the work.',
  files: { 'notes/a.txt': 'alpha\nbeta\n' },
  verify: 'grep -qx 1 count.txt && grep -qx "second line" deep/made.txt && test -s node.txt && test -s all.tar && test -d .git',
}

it.each(TOOLS)('%s works with its tools, and the verifier passes', async (adapter, api, calls) => {
  const settings = {
    recipe: 'harness',
    'evolution.executor': 'sandbox',
    'evolution.evaluator': 'verify',
    'evolution.selection': 'floor',
    'evolution.proposer': join(import.meta.dirname, '../fixtures/evolution/word-proposer.ts'),
    'evolution.seed': JSON.stringify([{ id: 'format', name: 'rules', config: { text: 'Be brief.' } }]),
    'evolution.tasks': JSON.stringify([WORK]),
    'evolution.proposals_dir': join(folder, `proposals-${adapter}`),
    'evolution.step_record_dir': join(folder, `steps-${adapter}`),
  }
  const world = await openAgentWorld({ adapter, api, seed: [], settings })
  try {
    await world.here.restart({ 'evolution.binary': world.program })
    world.here.upstream.answer(thenAllSay(calls, 'Done.'))
    await world.ask('POST', '/svc/train', REQUEST)
    await until(async () => (await world.catalog()).length > 1)
    const last = world.here.upstream.received
      .map(({ body }) => body.toString())
      .filter((body) => body.includes(`call_turn_${calls.length - 1}_`))
    expect(last.at(-1)).toContain('shell-ran')
    expect(last.at(-1)).toContain('alpha')
    const row = (await world.catalog()).at(-1)
    expect(row).toMatchObject({ candidate_score: 1, episode_failures: 0, evaluation_context: { adapter } })
  } finally {
    await world.close()
  }
})
