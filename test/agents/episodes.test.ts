/** Each of the real agents plays an episode in the sandbox: started by its adapter, bound to the relay's address, scored by what it answered. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ModelApi } from '../../src/contract/index.ts'
import { program } from '../support/programs.ts'
import { until } from '../support/wait.ts'
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

it.each(AGENTS)('%s', async (adapter, api) => {
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
