/** An episode that is played again: with other luck where the model or the evaluator failed, with the same where a machine was lost. */
import { expect, it } from 'vitest'
import type { Evaluator } from '../contract/index.ts'
import type { Trouble } from './episode-end.ts'
import { playUntilScored } from './episodes.ts'
import type { EpisodeHost, EpisodeOutcome } from './hosts/host.ts'
import { openModels, SILENT } from './models/index.ts'
import { taskNamed } from './testing/bench.ts'

const evaluator: Evaluator = { score: async () => 1 }
const PLAYED: EpisodeOutcome = {
  score: 1,
  failure: null,
  episode: null,
  note: null,
  trouble: null,
  seeds: [],
  agentSeconds: 0,
  worker: null,
}

/** The luck of each try, where the first ones end in these troubles. */
async function lucksAfter(...troubles: readonly Trouble[]): Promise<readonly (string | null)[]> {
  const lucks: (string | null)[] = []
  const host: EpisodeHost = {
    ready: async () => undefined,
    distrusts: () => false,
    version: async () => '1',
    async play({ luck }) {
      const trouble = troubles[lucks.length] ?? null
      lucks.push(luck)
      return trouble === null ? PLAYED : { ...PLAYED, score: null, trouble }
    },
  }
  const signal = new AbortController().signal
  const model = { url: 'http://127.0.0.1:9', model: 'm', api: 'openai', apiKey: null } as const
  const { models } = openModels(model, { callsMax: 0, report: SILENT, signal })
  const setup = {
    host,
    model,
    models,
    signal,
    priority: 'traffic',
    pauseMs: 0,
    evaluatorOf: async () => evaluator,
    budget: null,
    hold: async () => null,
    used: () => undefined,
    counted: () => undefined,
  } as const
  const input = { side: 'candidate', entries: [], task: taskNamed('one'), reference: null, luck: 'x' } as const
  await playUntilScored(setup, input, () => true)
  return lucks
}

it('keeps its luck where workers were lost, so that its score is that of an undisturbed play', async () => {
  expect(await lucksAfter('machine', 'machine')).toEqual(['x', 'x', 'x'])
})

it('has other luck where the model or the evaluator failed', async () => {
  expect(await lucksAfter('model', 'evaluator')).toEqual(['x', 'x 2', 'x 3'])
})

it('ends where the machine fails it after all its tries, whatever failed the first of them', async () => {
  await expect(lucksAfter('model', 'model', 'model', 'machine')).rejects.toThrow('an episode failed')
})
