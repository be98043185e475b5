/** A gain of ten points with a grader that is silent one time in ten, played by the real runner: simulated agents, the gate as it ships. */
import { expect, it } from 'vitest'
import type { Evaluator, Executor } from '../src/contract/index.ts'
import { episodeOf, taskNamed, testBench } from '../src/evolution/testing/bench.ts'
import evidence from '../plugins/selections/evidence/index.ts'
import { betaOf, randomOf } from '../plugins/selections/evidence/testing.ts'

const TASKS = 60
const GAIN = 0.1
const SILENT = 0.1
const RUNS = 40

/** Says which side it is of. */
const run: Executor['run'] = async (play) => {
  const files = play.files({ url: '', model: 'm', api: 'openai', apiKey: null })
  const episode = episodeOf(files['agent/RULES.md']?.includes('magic') === true ? 'candidate' : 'current')
  await play.inspect?.('/root/workspace', episode)
  return episode
}

async function isFound(number: number): Promise<boolean> {
  const random = randomOf(number)
  const chances = new Map(Array.from({ length: TASKS }, (_, n) => [`task-${n}`, betaOf(random)]))
  const evaluator: Evaluator = {
    async score({ name }, { stdout }) {
      if (random() < SILENT) return null
      const chance = (chances.get(name) ?? 0) + (stdout === 'candidate' ? GAIN : 0)
      return random() < chance ? 1 : 0
    },
  }
  const bench = await testBench({
    run,
    evaluator,
    selection: await evidence.plugin.make({}),
    tasks: [...chances.keys()].map((name) => taskNamed(name)),
    settings: { step_record_dir: null },
  })
  return (await bench.step({ id: String(number) })).kind === 'publish'
}

it('is found nine times in ten', async () => {
  let found = 0
  for (let number = 0; number < RUNS; number += 1) found += (await isFound(number)) ? 1 : 0
  expect(found / RUNS).toBeGreaterThanOrEqual(0.9)
}, 600_000)
