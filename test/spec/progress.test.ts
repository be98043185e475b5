/** How far an instruction is: every state of the table, in every field, while a step holds it and once it has settled. */
import { describe, expect, it } from 'vitest'
import { textIn } from '../../src/pages/testing/reading.ts'
import { holdNextRow } from '../fixtures/training/gated-store.ts'
import { ownWorld, sharedWorld } from '../support/world.ts'
import { bearer, expectRefusal, GATED_STORE, LEDGER_RECIPE, named, textAt } from './support/helpers.ts'
import { fresh, gateIn, type Trainee } from './support/trainee.ts'

const here = sharedWorld({ settings: { recipe: LEDGER_RECIPE, 'data.training_mode': 'manual', 'storage.record_backend': GATED_STORE } })

const FIELDS = ['activity', 'episodes_total', 'meaning', 'request_id', 'settled', 'started_at', 'state', 'step', 'step_record']
const LOST = { ...line('lost the first', 'trial'), failed: true }
const idle = { started_at: null, episodes_total: null, step_record: null, activity: [] }

describe('a request that no step has settled', () => {
  it('is queued while another is under way [progress.states] [progress.fields]', async () => {
    const s = await fresh(here)
    const { open } = await s.paused()
    const id = await s.ask('add')
    const view = await s.progress(id)
    expect(view).toEqual({ request_id: id, settled: false, step: null, state: 'queued', meaning: expect.any(String), ...idle })
    expect(Object.keys(view).sort()).toEqual(FIELDS)
    await open()
    await s.consumer(id)
  })

  it.each<[state: string, word: string, more: object]>([
    ['running', 'wait', { activity: [line('told: wait')] }],
    ['proposing', 'propose', { activity: [line('told: propose')] }],
    ['evaluating', 'evaluate', { episodes_total: 4, step_record: 'steps/1', activity: [line('told: evaluate'), LOST] }],
  ])('is %s when its step reports it [progress.states] [progress.fields]', async (state, word, more) => {
    const s = await fresh(here)
    const gate = gateIn(here)
    const id = await s.ask(`${word} ${gate.path}`)
    const running = { settled: false, step: null, state, meaning: expect.any(String), ...idle, started_at: expect.any(Number), ...more }
    await expect.poll(() => s.progress(id), { timeout: 30_000 }).toEqual({ request_id: id, ...running })
    await gate.open()
    await s.consumer(id)
    expect(await s.progress(id)).toMatchObject({ settled: true, step: 1, state: 'published' })
  })

  it('is settling while its row is landing, and only then [progress.states]', async () => {
    const s = await fresh(here)
    const row = holdNextRow()
    const id = await s.ask('add')
    await row.arrived
    expect(await s.progress(id)).toMatchObject({ state: 'settling', settled: false, step: null, meaning: expect.any(String) })
    expect(await s.status()).toMatchObject({ scenario_step: 0 })
    expect(await s.rows()).toEqual([])
    row.pass()
    await s.row(1)
    expect(await s.progress(id)).toMatchObject({ state: 'published', settled: true, step: 1 })
  })
})

const running = async (s: Trainee) => here.get('/svc/harness/progress', named(s.name))

describe('the steps that run', () => {
  it('are told episode by episode, on traffic as on a request, and are none once they have settled', async () => {
    const s = await fresh(here, 'hybrid')
    expect((await running(s)).json).toEqual({ scenario: s.name, steps: [] })
    const gate = gateIn(here)
    const [, report] = await s.reported({ feedback: `evaluate ${gate.path}` })
    const took = { input_tokens: 90, output_tokens: 10, cost: null }
    const episode = {
      at: expect.any(Number),
      side: 'candidate',
      task: 'first',
      repeat: 0,
      score: 0,
      words: 'wrong',
      seconds: 2,
      ...took,
      transcript: null,
    }
    await expect
      .poll(async () => (await running(s)).json['steps'], { timeout: 30_000 })
      .toEqual([
        {
          component: '',
          request_id: null,
          state: 'evaluating',
          meaning: expect.any(String),
          started_at: expect.any(Number),
          episodes_total: 4,
          episodes_played: 1,
          ...took,
          seconds_left: expect.any(Number),
          step_record: 'steps/1',
          activity: [line('told: evaluate'), LOST],
          episodes: [episode],
        },
      ])
    const record = await here.get('/svc/harness/progress/records?step_record=steps/1', named(s.name))
    expect(record.json).toMatchObject({ status: 'disabled' })
    await gate.open()
    await s.consumer(report)
    await expect.poll(async () => (await running(s)).json['steps']).toEqual([])
  })

  it('are on the page of their request, whose words are only for people with a token [page.request-episodes]', async () => {
    const s = await fresh(here)
    const gate = gateIn(here)
    const id = await s.ask(`evaluate ${gate.path}`)
    const page = async (headers: Readonly<Record<string, string>> = {}) =>
      textIn((await here.get(`/svc/harness/requests/${id}/page`, { ...named(s.name), ...headers })).text)
    await expect.poll(() => page(), { timeout: 30_000 }).toMatch(/Episodes first with the change 0 .*: wrong/)
    const others = await page({ 'x-svc-tag-session': 'of an agent' })
    expect(others).toContain('first with the change 0')
    expect(others).not.toContain('wrong')
    await gate.open()
    await s.consumer(id)
  })

  it('are not told to the session of an agent, which may not read of held-out tasks', async () => {
    const s = await fresh(here)
    for (const path of ['', '/records?step_record=x'])
      expect((await here.get(`/svc/harness/progress${path}`, { ...named(s.name), 'x-svc-tag-session': 'a' })).status).toBe(401)
  })
})

describe('a request that is settled', () => {
  it.each([
    ['add', 'published'],
    ['hold', 'pending'],
    ['reject', 'rejected'],
    ['skip', 'skipped'],
    ['same', 'skipped'],
    ['stuck', 'failed'],
    ['throw', 'failed'],
    ['escape', 'failed'],
  ])('by a step of the word %s is %s, with its step and no activity [progress.states] [progress.fields]', async (word, state) => {
    const s = await fresh(here)
    const id = await s.ask(word)
    await s.row(1)
    expect(await s.progress(id)).toEqual({ request_id: id, settled: true, step: 1, state, meaning: null, ...idle })
  })

  it('still is after a restart [progress.states]', async () => {
    const s = await fresh(here)
    const id = await s.ask('reject')
    await s.row(1)
    const settled = await s.progress(id)
    await here.restart()
    expect(await s.progress(id)).toEqual(settled)
  })

  it('stays what it was when its release is promoted or left behind', async () => {
    const s = await fresh(here)
    const created = textAt(await s.release(), 'release_id')
    const [held, kept] = [await s.ask('hold'), await s.ask('add')]
    await s.row(2)
    await s.move('promote', textAt(await s.row(1), 'artifact_ref'))
    await s.move('rollback', created)
    expect([await stateOf(s, held), await stateOf(s, kept)]).toEqual(['pending', 'published'])
  })
})

describe('progress', () => {
  it('of an unknown id, and of a record that is no instruction, is 404 naming it [page.request-unknown]', async () => {
    const s = await fresh(here)
    const receipt = await here.exchange(s.name)
    for (const id of ['unheard-of', receipt]) {
      expectRefusal(await here.get(`/svc/harness/requests/${id}/progress`, named(s.name)), 404, 'unknown_request', id)
    }
  })

  it("of another scenario's instruction is 404", async () => {
    const [s, other] = [await fresh(here), await fresh(here)]
    const id = await s.ask('skip')
    expectRefusal(await here.get(`/svc/harness/requests/${id}/progress`, named(other.name)), 404, 'unknown_request')
  })

  it('is never cached, and takes a header and no page key [progress.headers-only]', async () => {
    const closed = await ownWorld({ settings: { recipe: LEDGER_RECIPE, 'data.training_mode': 'manual', 'svc.token': 't' } })
    await closed.post('/svc/scenarios', { name: 'a' }, bearer('t'))
    const { json } = await closed.post('/svc/train', { text: 'skip', session: 's', release_id: 'r' }, { ...named('a'), ...bearer('t') })
    const path = `/svc/harness/requests/${textAt(json, 'agent_record_id')}/progress`
    const answer = await closed.get(path, { ...named('a'), ...bearer('t') })
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store'])
    const query = textAt(json, 'page_path').split('?')[1]
    expectRefusal(await closed.get(`${path}?${query}`), 401, 'unauthorized')
    expectRefusal(await closed.get(path, bearer('t')), 400, 'scenario_missing')
  })

  it('names the meaning of each state in a sentence of its own', async () => {
    const s = await fresh(here)
    const meanings: unknown[] = []
    for (const [word, state] of [
      ['wait', 'running'],
      ['propose', 'proposing'],
      ['evaluate', 'evaluating'],
    ] as const) {
      const gate = gateIn(here)
      const id = await s.ask(`${word} ${gate.path}`)
      meanings.push((await s.reached(id, state))['meaning'], (await s.progress(await s.ask('skip')))['meaning'])
      await gate.open()
      await s.consumer(id)
    }
    expect(new Set(meanings).size).toBe(4)
  })
})

const stateOf = async (s: Trainee, id: string): Promise<unknown> => (await s.progress(id))['state']

function line(text: string, kind = 'proposer'): object {
  return { at: expect.any(Number), kind, text }
}
