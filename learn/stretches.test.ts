/** A model with bad stretches, by simulation: what the trainer publishes under the gate that ships where no change does anything. */
import { expect, it } from 'vitest'
import evidence from '../plugins/selections/evidence/index.ts'
import { randomOf } from '../plugins/selections/evidence/testing.ts'
import { episodeOf, taskNamed, testBench } from '../src/evolution/testing/bench.ts'

const TASKS = Array.from({ length: 14 }, (_, n) => taskNamed(`task-${n}`))
const SCENARIOS = Array.from({ length: 16 }, (_, scenario) => scenario)
const STEPS = 30
/** In episodes, of good and of bad stretches together. */
const STRETCH = 40
const [GOOD, BAD] = [0.9, 0.1]

/** Whether one of so many changes that do nothing is published. */
async function publishes(scenario: number): Promise<boolean> {
  const random = randomOf(scenario)
  let [played, left, chance, asked] = [0, 0, GOOD, 0]
  const bench = await testBench({
    tasks: TASKS,
    selection: 'make' in evidence.plugin ? await evidence.plugin.make({}) : evidence.plugin,
    settings: { step_record_dir: null, screen_share: 0, max_episodes_per_step: 200 },
    propose: () => ({
      mutations: [{ op: 'create', id: `rule-${(asked += 1)}`, options: { name: 'rules', config: { text: `Be kind ${asked} times.` } } }],
    }),
    run: async (play) => {
      played += 1
      if ((left -= 1) < 0) [left, chance] = [Math.ceil(2 * STRETCH * random()), chance === GOOD ? BAD : GOOD]
      const episode = episodeOf(random() < chance ? 'right' : 'wrong')
      await play.inspect?.('/root/workspace', episode)
      return episode
    },
    evaluator: { score: async (_task, { stdout }) => Number(stdout === 'right') },
  })
  for (let step = 0; step < STEPS; step += 1) if ((await bench.step()).kind === 'publish') return true
  return false
}

it('a model with bad stretches publishes no change that does nothing in 15 of 16 scenarios', async () => {
  const published: number[] = []
  for (const scenario of SCENARIOS) if (await publishes(scenario)) published.push(scenario)
  expect(published.length).toBeLessThanOrEqual(1)
}, 600_000)
