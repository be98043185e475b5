/** The real pi gets better: its own traffic, its own report, episodes of the pinned pi in the sandbox, and the release it pulls. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { program } from '../support/programs.ts'
import { lastLine, ROMAN_RULE, ROMAN_TASKS, romanPrompt, ROMANS_ASKED } from '../support/romans.ts'
import { until } from '../support/wait.ts'
import { openAgentWorld, type AgentWorld } from './support/world.ts'

let folder = ''
let world: AgentWorld
beforeAll(async () => {
  program('bwrap')
  folder = mkdtempSync(join(tmpdir(), 'svc-evolve-'))
  world = await openAgentWorld({
    adapter: 'pi',
    api: 'openai',
    seed: [],
    settings: {
      recipe: 'harness',
      'inference.runtime': 'practice',
      'data.training_mode': 'hybrid',
      'evolution.executor': 'sandbox',
      'evolution.seed': JSON.stringify([ROMAN_RULE]),
      'evolution.tasks': JSON.stringify(ROMAN_TASKS.slice(0, 12)),
      'evolution.max_episodes_per_step': 72,
      'evolution.proposals_dir': join(folder, 'proposals'),
      'evolution.step_record_dir': join(folder, 'steps'),
    },
  })
})
afterAll(async () => {
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

const passes = async (number: string): Promise<boolean> => {
  const { code, out } = await world.run(['-p', romanPrompt(number)])
  expect(code).toBe(0)
  return lastLine(out) === ROMANS_ASKED[number]
}

it('traffic, a failing report, a step, a release that is pulled, and the same task passes', async () => {
  const failed: string[] = []
  for (const number of Object.keys(ROMANS_ASKED)) {
    if (await passes(number)) continue
    failed.push(number)
    const rows = (await world.catalog()).length
    expect(await world.run(['report', '--score', '0', '--feedback', 'The numeral is wrong.'])).toMatchObject({ code: 0 })
    await until(async () => (await world.catalog()).length > rows)
    const row = (await world.catalog()).at(-1)
    process.stderr.write(`pi: ${JSON.stringify(row?.['metrics'])}\n`)
    if (row?.['result'] === 'published') break
  }
  const [first = ''] = failed
  expect((await world.catalog()).at(-1)).toMatchObject({ result: 'published', evaluation_context: { adapter: 'pi' } })
  expect(await world.run(['update'])).toMatchObject({ code: 0 })
  expect(await passes(first)).toBe(true)
})
