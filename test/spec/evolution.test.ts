/** Evolution from the clients' side: rows, reviews, promotion, modes, with the mock model. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import type { Settings } from '../support/settings.ts'
import { ownWorld, type World } from '../support/world.ts'
import { errorOf, named, rowsOf, textAt } from './support/helpers.ts'
import { WORD_PROPOSER, wordHarness } from '../support/word-harness.ts'
import { fresh, memberOf, type Trainee } from './support/trainee.ts'

let here: World

async function open(more: Settings = {}): Promise<World> {
  here = await ownWorld({ backend: 'sqlite' })
  const { directory } = here
  await here.restart({
    ...wordHarness(directory),
    ...more,
  })
  return here
}

/** One exchange and a report about it; answers the report's id. */
async function reported(s: Trainee, feedback: string): Promise<string> {
  const body = { model: 'practice', messages: [{ role: 'user', content: 'Say the word.' }] }
  const { headers } = await here.post('/v1/chat/completions', body, named(s.name))
  const references = [String(headers['x-svc-agent-record-id'])]
  return textAt((await s.report({ references, score: 0, feedback })).json, 'agent_record_id')
}

const rulesOf = async (s: Trainee, release?: string): Promise<string> => {
  const query = release === undefined ? '' : `?release_id=${release}`
  const rules = memberOf((await here.get(`/svc/harness${query}`, named(s.name))).json, 'files')['RULES.md']
  return typeof rules === 'string' ? rules : ''
}

describe('a step on traffic', () => {
  it('publishes what does better, and its row, the catalog and the manifest show how it was measured, in the words of the interface alone [versioning.renamed]', async () => {
    await open()
    const s = await fresh(here)
    const report = await reported(s, 'say magic')
    const row = await s.consumer(report)
    expect(row).toMatchObject({ operation: 'train', metrics: { wins: 1, losses: 0, ties: 0, candidate_score: 1, current_score: 0 } })
    const [, published] = await s.listed()
    const evaluation = { wins: 1, losses: 0, ties: 0, candidate_score: 1, current_score: 0, episode_failures: 0, evaluation_task_count: 1 }
    expect(published).toMatchObject({ result: 'published', ...evaluation, evaluation_context: { adapter: 'parrot' } })
    expect((await here.get('/svc/harness', named(s.name))).json['evaluation']).toMatchObject(evaluation)
    expect(await rulesOf(s)).toContain('magic')
    const names = Object.keys(memberOf(row, 'metrics'))
    expect(names.filter((name) => /^benchmark|acceptance|verdict|judging/.test(name))).toEqual([])
  })

  it('rejects what does not, and serves what it served', async () => {
    await open()
    const s = await fresh(here)
    const report = await reported(s, 'say nonsense')
    expect(await s.consumer(report)).toMatchObject({ metrics: { wins: 0, ties: 1, selected: false } })
    expect(await s.release()).toMatchObject({ result: 'rejected' })
    expect(await rulesOf(s)).toBe('')
  })
})

const held = async (settings: Settings): Promise<readonly [Trainee, JsonObject]> => {
  await open(settings)
  const s = await fresh(here)
  await s.asked('say magic')
  return [s, await s.release()]
}

describe('review', () => {
  it('holds every release: it is not served before a person promotes it [harness.review-hold]', async () => {
    const [s, row] = await held({ 'evolution.publish': 'review' })
    const release = textAt(row, 'release_id')
    expect(row).toMatchObject({ pending: true, result: 'pending', current: false })
    expect(await rulesOf(s)).toBe('')
    expect(await rulesOf(s, release)).toContain('magic')
    await here.restart()
    expect(await rulesOf(s)).toBe('')
    expect((await s.move('promote', release)).status).toBe(200)
    expect(await rulesOf(s)).toContain('magic')
    expect(await s.release()).toMatchObject({ operation: 'promote', result: 'published', current: true })
  })

  it('holds what touches a listed kind, and nothing else', async () => {
    const [, row] = await held({ 'evolution.review_kinds': '[rules]' })
    expect(row).toMatchObject({ pending: true })
    const [, other] = await held({ 'evolution.review_kinds': '[skill]' })
    expect(other).toMatchObject({ pending: false, result: 'published' })
  })
})

it('modes that take requests need a proposer that does: else 501, and nothing changes [mode.proposer]', async () => {
  await open({ 'data.training_mode': 'auto', 'evolution.proposer': `${WORD_PROPOSER}#deaf` })
  const s = await fresh(here)
  for (const mode of ['manual', 'hybrid'] as const) {
    const answer = await s.useMode(mode)
    expect(answer.status).toBe(501)
    expect(textAt(errorOf(answer), 'message')).toContain(mode)
  }
  expect(await s.status()).toMatchObject({ training_mode: 'auto' })
})

describe('a request', () => {
  it('is followed from the queue to its row, with what the step did on the way', async () => {
    await open()
    const s = await fresh(here, 'manual')
    const id = await s.asked('say magic')
    expect(await s.progress(id)).toMatchObject({ settled: true, state: 'published' })
    const paths = rowsOf(await here.get('/svc/harness/releases/1/records', named(s.name)), 'files').map(({ path }) => path)
    expect(paths).toEqual(expect.arrayContaining(['mutations.json', 'proposer.json', 'episodes/candidate-0/episode.json']))
  })

  it('whose proposer fails is a failed row with the error and the stage, and is not tried again', async () => {
    await open()
    const s = await fresh(here, 'manual')
    const id = await s.ask('fail please')
    expect(await s.consumer(id)).toMatchObject({
      consumed_ids: [id],
      metrics: { skipped: 'instruction failed', error: 'as it was told to', failed_stage: 'proposing' },
    })
    expect(await s.progress(id)).toMatchObject({ settled: true, state: 'failed' })
  })
})
