/** What TensorBoard and MLflow get of a step, and that neither can stop one. */
import { readdirSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import type { JsonObject } from '../../contract/index.ts'
import { startServer } from '../jobs/testing.ts'
import { curvesOf } from './curves.ts'
import { mlflow } from './mlflow.ts'
import { noteStep, numbersIn } from './sinks.ts'
import { tensorBoard } from './tensorboard.ts'

const NEVER = new AbortController().signal
const CLOCK = (): number => 1_700_000_000

describe('the numbers of a step', () => {
  it('are the finite ones, by their paths', () => {
    const metrics = { reward_mean: 0.5, 'loss:sum': 2, selected: true, trainer: { grad_norm: 3, note: 'x' }, list: [1], bad: Number.NaN }
    expect(numbersIn(metrics)).toEqual({ reward_mean: 0.5, loss_sum: 2, 'trainer/grad_norm': 3 })
  })

  it('have reward, length, entropy and the distance from the base, as far as the batch tells', () => {
    const sample = { record_ids: [], exchanges: [], score: null, feedback: null }
    const common = { record_ids: [], group: null, tokens: [9, 1, 2], sample } as const
    const one = { ...common, score: 1, lossMask: [1, 0], logProbs: [-1, 0], baseLogProbs: [-1.5, 0] } as const
    const other = { ...common, score: 0, lossMask: [1, 1], logProbs: [-2, -3], baseLogProbs: [-2, -3] } as const
    const found = { reward_mean: 0.5, answer_tokens_mean: 1.5, entropy: 2, kl_to_base: 0.5 / 3 }
    expect(curvesOf([one, other])).toEqual(found)
    expect(curvesOf([{ ...common, score: null, lossMask: [1, 1], logProbs: [] }])).toEqual({ answer_tokens_mean: 2 })
  })
})

describe('TensorBoard', () => {
  it('gets a file of events for each scenario: its version first, then one for each step', async () => {
    const folder = temporaryFolder()
    const sink = tensorBoard(folder, CLOCK, '1.host')
    await sink.note('shop', 1, { reward: 0.25 }, NEVER)
    await sink.note('shop', 300, { reward: 0.5, 'trainer/loss': -2 }, NEVER)
    expect([readdirSync(folder), readdirSync(join(folder, 'shop'))]).toEqual([['shop'], ['events.out.tfevents.1.host']])
    const file = readFileSync(join(folder, 'shop', 'events.out.tfevents.1.host'))
    // As every such file begins: a length of 24 and the sum that TensorFlow has for it.
    expect(file.subarray(0, 12).toString('hex')).toBe('1800000000000000a37f4b22')
    const [version, first, second] = recordsIn(file)
    expect(version?.subarray(9).toString('latin1')).toBe('\u001a\u000dbrain.Event:2')
    expect(version?.readDoubleLE(1)).toBe(CLOCK())
    const reward = Buffer.from('reward').toString('hex')
    expect(first?.subarray(9).toString('hex')).toBe(`10012a0f0a0d0a06${reward}150000803e`)
    expect(second?.subarray(9, 12).toString('hex')).toBe('10ac02')
    expect(second?.includes('trainer/loss')).toBe(true)
  })
})

function recordsIn(file: Buffer): readonly Buffer[] {
  const records: Buffer[] = []
  for (let at = 0; at < file.length;) {
    const length = Number(file.readBigUInt64LE(at))
    records.push(file.subarray(at + 12, at + 12 + length))
    at += length + 16
  }
  return records
}

interface Asked {
  readonly path: string
  readonly body: JsonObject
}

/** Answers as MLflow does, with or without the experiment and the run. */
async function startMlflow(isKnown: boolean, status = 200): Promise<{ readonly url: string; readonly asked: Asked[] }> {
  const asked: Asked[] = []
  const run = { info: { run_id: 'r7' } }
  const answers: Readonly<Record<string, object>> = {
    'experiments/get-by-name': { experiment: { experiment_id: '3' } },
    'experiments/create': { experiment_id: '3' },
    'runs/search': isKnown ? { runs: [run] } : {},
    'runs/create': { run },
    'runs/log-batch': {},
  }
  const url = await startServer((request, response) => {
    const answer = async (): Promise<void> => {
      const sent = await text(request)
      const path = (request.url ?? '').replace('/api/2.0/mlflow/', '').split('?')[0] ?? ''
      asked.push({ path, body: sent === '' ? {} : JSON.parse(sent) })
      const isMissing = path === 'experiments/get-by-name' && !isKnown
      response.writeHead(isMissing ? 404 : status).end(JSON.stringify(answers[path] ?? {}))
    }
    void answer()
  })
  return { url, asked }
}

describe('MLflow', () => {
  it('gets an experiment and a run for each scenario, once, and the numbers of every step', async () => {
    const { url, asked } = await startMlflow(false)
    const sink = mlflow({ url, experiment: 'svc', apiKey: null }, CLOCK)
    await sink.note('shop', 1, { reward: 0.25 }, NEVER)
    await sink.note('shop', 2, { reward: 0.5 }, NEVER)
    const paths = ['experiments/get-by-name', 'experiments/create', 'runs/search', 'runs/create', 'runs/log-batch', 'runs/log-batch']
    expect(asked.map(({ path }) => path)).toEqual(paths)
    expect(asked[3]?.body).toMatchObject({ experiment_id: '3', run_name: 'shop', tags: [{ key: 'svc.scenario', value: 'shop' }] })
    const metric = { key: 'reward', value: 0.5, timestamp: CLOCK() * 1000, step: 2 }
    expect(asked[5]?.body).toEqual({ run_id: 'r7', metrics: [metric] })
  })

  it('finds the run of an earlier start again', async () => {
    const { url, asked } = await startMlflow(true)
    await mlflow({ url, experiment: 'svc', apiKey: 'k' }, CLOCK).note('shop', 9, { reward: 1 }, NEVER)
    expect(asked.map(({ path }) => path)).toEqual(['experiments/get-by-name', 'runs/search', 'runs/log-batch'])
  })

  it.each([
    ['that fails', 500],
    ['that answers something else', 200],
  ] as const)('%s is named in the log, and the step goes on', async (_what, status) => {
    const { url } = status === 500 ? await startMlflow(true, status) : { url: await startServer((_, response) => response.end('<html>')) }
    const lines: string[] = []
    const report = { phase: () => undefined, line: (_kind: string, said: string) => void lines.push(said) }
    const noted = { scenario: 'shop', step: 1, metrics: { reward: 1 } }
    const folder = temporaryFolder()
    const sinks = [mlflow({ url, experiment: 'svc', apiKey: null }, CLOCK), tensorBoard(folder, CLOCK, 'x')]
    await noteStep(sinks, noted, report, NEVER)
    expect(lines).toEqual([expect.stringMatching(/^the numbers of this step did not reach MLflow: (status 500|an answer) /)])
    expect(readdirSync(folder)).toEqual(['shop'])
  })
})
