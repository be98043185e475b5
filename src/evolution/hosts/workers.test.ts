/** What a step makes of the answers of workers: those that are no result are the machine's trouble, and never a score. */
import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import type { JsonObject, Task } from '../../contract/index.ts'
import { closeServer, listenOnLoopback } from '../../../test/support/listen.ts'
import { sendJson } from '../../../test/support/upstream.ts'
import parrot from '../../../test/fixtures/evolution/parrot-adapter.ts'
import { CapReached } from '../money/caps.ts'
import { openModels, SILENT } from '../models/index.ts'
import { SETTINGS } from '../testing/bench.ts'
import type { EpisodeOutcome } from './host.ts'
import { hostWorkers } from './workers.ts'

const TASK: Task = { name: 'one', prompt: 'Say one.', role: 'gate' }
const GOOD = { score: 1, failure: null, episode: null, note: null, trouble: null, seeds: [], agentSeconds: 1 }
const { score: _score, ...WITHOUT_SCORE } = GOOD
const BUDGET = {
  step: 3,
  model: 'm',
  max_tokens_per_step: 100,
  max_cost_per_step: 0,
  max_tokens_per_day: 0,
  max_cost_per_day: 0,
}
const CALL = { model: 'm', input: 1, output: 1 }

/** The outcome of an episode whose worker answers so, and how many calls were counted. */
async function outcomeOf(
  result: JsonObject | null,
  sandbox: Record<string, number> = {},
  more: JsonObject = {},
): Promise<{ outcome: EpisodeOutcome; calls: number; offered: JsonObject }> {
  let offered: JsonObject = {}
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      offered = JSON.parse(Buffer.concat(parts).toString())
      sendJson(response, 200, { worker: 'bad/w', result, problem: null, calls: [CALL], set_aside: [], ...more })
    })
  })
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}`
  onTestFinished(() => closeServer(server))
  const host = hostWorkers(parrot.plugin, { ...SETTINGS, binary: process.execPath, sandbox })
  let calls = 0
  const model = { url, model: 'm', api: 'openai', apiKey: null } as const
  const signal = new AbortController().signal
  const { models } = openModels(model, { callsMax: 0, report: SILENT, signal })
  const used = (): void => void (calls += 1)
  const count = { budget: BUDGET, hold: async () => null, used, counted: used }
  const means = { model, models, signal, priority: 'traffic', ...count } as const
  const outcome = await host.play({ side: 'candidate', entries: [], task: TASK, reference: null, luck: null }, means)
  return { outcome, calls, offered }
}

it('a result is taken as it is', async () => {
  expect(await outcomeOf(GOOD)).toMatchObject({ outcome: { score: 1, worker: 'bad/w' }, calls: 1 })
})

it.each<[string, JsonObject]>([
  ['a text as a score', { ...GOOD, score: '1' }],
  ['no score', WITHOUT_SCORE],
  ['a list', { ...GOOD, score: [1] }],
  ['an episode that is none', { ...GOOD, episode: { exitCode: 'x' } }],
  ['a trouble that there is not', { ...GOOD, trouble: 'none' }],
  ['less than no time', { ...GOOD, agentSeconds: -1 }],
  ['nothing', {}],
])('a result with %s is trouble of the machine, its calls are counted, and it is no score', async (_title, result) => {
  const { outcome, calls } = await outcomeOf(result)
  expect(outcome).toMatchObject({
    score: null,
    trouble: 'machine',
    failure: expect.stringContaining('worker bad/w answered what is no result'),
  })
  expect(calls).toBe(1)
})

it('an episode is offered with what its sandbox may take', async () => {
  const { offered } = await outcomeOf(GOOD, { memory_bytes: 1000, model_calls: 5, model_tokens: 60 })
  expect(offered).toMatchObject({ needs: { adapter: 'parrot', memory_bytes: 1000 }, calls_max: 5, tokens_max: 60 })
})

it('an episode is offered with the caps of its step, and one that a cap ended is no score of anybody', async () => {
  expect((await outcomeOf(GOOD)).offered).toMatchObject({ budget: BUDGET })
  await expect(outcomeOf(null, {}, { problem: 'too much', cap: 'too much' })).rejects.toThrow(new CapReached('too much'))
})
