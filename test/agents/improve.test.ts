/** `svc improve` with each of the real agents on a repository with a real history: tasks are mined, and an improvement is found, proved and shown. */
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { ModelApi } from '../../src/contract/index.ts'
import { providerFor, type WriteCall } from '../evolution/improve-provider.ts'
import { git, KINDS, makeRepository, RULES } from '../evolution/improve-repositories.ts'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openAgentWorld } from './support/world.ts'

const kind = KINDS.shell
const TASKS = 15
const TIMEOUT_MS = 40 * 60_000

/** By the shell of the agent, which all of them have. */
const byShell =
  (tool: string, input: (command: string) => object): WriteCall =>
  (path, text) => ({ tool, input: input(`mkdir -p bin && cat > ${path} <<'END'\n${text}END`) })

it.each<[adapter: string, api: ModelApi, rules: string, write: WriteCall]>([
  ['pi', 'openai', 'AGENTS.md', byShell('bash', (command) => ({ command }))],
  ['opencode', 'openai', 'AGENTS.md', byShell('bash', (command) => ({ command, description: 'Writes a file' }))],
  ['claude', 'anthropic', 'CLAUDE.md', byShell('Bash', (command) => ({ command, description: 'Writes a file' }))],
  ['codex', 'responses', 'AGENTS.md', byShell('exec_command', (cmd) => ({ cmd }))],
])('%s learns what its rules did not say', { timeout: TIMEOUT_MS }, async (adapter, api, rules, write) => {
  const world = await openAgentWorld({ adapter, api, seed: [] })
  onTestFinished(() => world.close())
  const { script } = providerFor(kind, write)
  world.here.upstream.answer(script)
  const home = temporaryFolder()
  const folder = join(home, 'repository')
  makeRepository(folder, kind, TASKS)
  if (rules !== 'AGENTS.md') {
    git(folder, 'mv', 'AGENTS.md', rules)
    git(folder, 'commit', '-qm', 'Move the rules')
  }
  const model = ['--model-url', world.here.upstream.url, '--inference.upstream_model', 'm', '--inference.upstream_api', api]
  const machine = ['--evolution.executor', 'local', '--evolution.binary', world.program]
  const args = [
    'improve',
    folder,
    '--agent',
    adapter,
    '--tasks',
    String(TASKS),
    ...model,
    ...machine,
    '--branch',
    'better',
    '--yes',
    '--json',
  ]
  const { code, out, err } = await runCommand(args, { HOME: home, XDG_DATA_HOME: join(home, 'data') })
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('"event":"result","improved":true')
  expect(git(folder, 'show', `better:${rules}`)).toBe(`${RULES}\n${kind.lesson}\n`)
  expect(git(folder, 'log', '-1', '--format=%B', 'better')).toMatch(/^gate: 0 before, 1 after/m)
})
