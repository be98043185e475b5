/** Reading back: records page by page, one record, commits, releases, and where the head may move. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../support/wait.ts'
import { sharedWorld, type Answer } from '../support/world.ts'
import { PLANTED, plantHistory, type Planted } from './support/planted.ts'
import { expectRefusal, importInference, inference, named, recordIds, reportEnvelope, rowsOf } from './support/helpers.ts'

const ROW = ['agent_record_id', 'artifact_ref', 'created_at', 'references', 'request_type', 'score', 'sequence']
const COMMIT = ['artifact_ref', 'consumed_ids', 'metrics', 'operation', 'operation_verified', 'pending', 'recorded_at', 'step']

const here = sharedWorld()
let planted: Planted
beforeAll(async () => {
  const records = Array.from({ length: 7 }, (_, index) => inference(`i${index}`))
  await here.post('/svc/records/batch', { records: [...records, reportEnvelope('r0', { references: ['i0'], score: 0.5 })] }, named('read'))
  planted = await plantHistory()
})
afterAll(() => planted.close())

const list = (query: string): Promise<Answer> => here.get(`/svc/scenarios/read/records?${query}`)
const commits = (query = ''): Promise<Answer> => planted.here.get(`/svc/scenarios/${PLANTED}/commits?${query}`)
const stepsOf = (answer: Answer): readonly unknown[] => rowsOf(answer, 'commits').map((row) => row['step'])
const sequencesOf = (answer: Answer): readonly unknown[] => rowsOf(answer, 'records').map((row) => row['sequence'])
const releases = (query = ''): Promise<Answer> => planted.here.get(`/svc/scenarios/${PLANTED}/releases${query}`)
const move = (kind: string, release_id: string): Promise<Answer> => planted.here.post(`/svc/scenarios/${PLANTED}/${kind}`, { release_id })

describe('the records', () => {
  it('are rows without payload, oldest first [history.records] [history.row-fields] [decisions.history-shapes]', async () => {
    const answer = await list('')
    expect(Object.keys(answer.json)).toEqual(['scenario', 'records', 'next_after_sequence'])
    expect(answer.json).toMatchObject({ scenario: 'read', next_after_sequence: null })
    const rows = rowsOf(answer, 'records')
    for (const row of rows) expect(Object.keys(row).sort()).toEqual(ROW)
    expect(rows.map((row) => row['sequence'])).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(rows.at(-1)).toMatchObject({ agent_record_id: 'r0', request_type: 'report', references: ['i0'], score: 0.5, artifact_ref: null })
  })

  it('come page by page, each once, until there is no next [history.records]', async () => {
    const seen: unknown[] = []
    for (let after: unknown = 0; typeof after === 'number' && seen.length < 20;) {
      const answer = await list(`limit=3&after_sequence=${after}`)
      seen.push(...sequencesOf(answer))
      after = answer.json['next_after_sequence']
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('end without a next page when the last one is exactly full [history.records]', async () => {
    expect((await list('limit=8')).json['next_after_sequence']).toBeNull()
    expect((await list('limit=7')).json['next_after_sequence']).toBe(7)
    expect((await list('after_sequence=8')).json).toMatchObject({ records: [], next_after_sequence: null })
  })

  it('come newest first when that is asked for, page by page back to the oldest', async () => {
    const first = await list('order=newest&limit=3')
    expect(sequencesOf(first)).toEqual([8, 7, 6])
    expect(first.json).toMatchObject({ next_before_sequence: 6 })
    const last = await list('order=newest&before_sequence=3&request_type=inference')
    expect(sequencesOf(last)).toEqual([2, 1])
    expect(last.json['next_before_sequence']).toBeNull()
    for (const query of ['order=sideways', 'order=newest&after_sequence=1', 'before_sequence=3', 'order=newest&before_sequence=-1'])
      expectRefusal(await list(query), 400, 'invalid_query')
  })

  it('show how long a served exchange took and what it cost', async () => {
    const receipt = await here.exchange('served')
    const answer = await here.get('/svc/scenarios/served/records')
    expect(rowsOf(answer, 'records')).toEqual([
      expect.objectContaining({ agent_record_id: receipt, summary: expect.objectContaining({ latency_ms: expect.any(Number) }) }),
    ])
    const record = await here.get(`/svc/scenarios/served/records/${receipt}`)
    expect(record.json['summary']).toEqual(rowsOf(answer, 'records')[0]?.['summary'])
  })

  it('are filtered by type, also across pages [history.records-filter]', async () => {
    expect(rowsOf(await list('request_type=report&limit=1'), 'records')).toHaveLength(1)
    expect((await list('request_type=report&limit=1')).json['next_after_sequence']).toBeNull()
    expect((await list('request_type=inference&limit=2')).json['next_after_sequence']).toBe(2)
    expect((await list('request_type=train')).json['records']).toEqual([])
    for (const type of ['all', '', 'REPORT']) expectRefusal(await list(`request_type=${type}`), 400, 'invalid_query')
  })

  it.each(['-1', 'x', '1.5', ''])('after %s are refused', async (after) => {
    expectRefusal(await list(`after_sequence=${after}`), 400, 'invalid_query')
  })

  it('say when they came in seconds since the epoch, with a fraction [decisions.times]', async () => {
    const [row] = rowsOf(await planted.here.get(`/svc/scenarios/${PLANTED}/records`), 'records')
    expect(row?.['created_at']).toBe(1_700_000_000.5)
    expect(rowsOf(await commits(), 'commits')[0]?.['recorded_at']).toBe(1_700_000_001.5)
    const [live] = rowsOf(await list('limit=1'), 'records')
    expect(JSON.stringify(live?.['created_at'])).toMatch(/^\d{10}(\.\d+)?$/)
  })
})

describe('one record', () => {
  it('is its row and its payload; reading it changes nothing [history.record] [history.record-read-only]', async () => {
    const before = await list('')
    const answer = await here.get('/svc/scenarios/read/records/r0')
    expect(Object.keys(answer.json).sort()).toEqual([...ROW, 'payload'].sort())
    expect(answer.json['payload']).toEqual({ references: ['i0'], score: 0.5 })
    expect((await list('')).json).toEqual(before.json)
  })

  it('that is not there is 404, as is one of another scenario [history.record-missing]', async () => {
    expectRefusal(await here.get('/svc/scenarios/read/records/none'), 404, 'unknown_record')
    expectRefusal(await here.get('/svc/scenarios/none/records/r0'), 404, 'unknown_scenario')
  })

  it('is found by an id that needs escaping', async () => {
    const id = 'a/b?c#d %é🐟'
    await importInference(here, 'escaped', id)
    expect((await here.get(`/svc/scenarios/escaped/records/${encodeURIComponent(id)}`)).json['agent_record_id']).toBe(id)
  })
})

describe('the commits', () => {
  it('are rows oldest first, without the state of the method [history.commits] [release.append-only]', async () => {
    const answer = await commits()
    expect(Object.keys(answer.json)).toEqual(['scenario', 'commits', 'next_after_step'])
    expect(stepsOf(answer)).toEqual([1, 2, 3, 4, 5])
    for (const row of rowsOf(answer, 'commits')) expect(Object.keys(row).sort()).toEqual(COMMIT)
    expect(answer.text).not.toContain('secret_of_the_method')
    expect(rowsOf(answer, 'commits')[0]).toMatchObject({ consumed_ids: ['r1', 'r2'], metrics: { wins: 3, losses: 1, own: { x: 1 } } })
  })

  it('come page by page [history.commits]', async () => {
    const first = await commits('limit=2')
    expect(stepsOf(first)).toEqual([1, 2])
    expect(first.json['next_after_step']).toBe(2)
    const last = await commits('limit=3&after_step=2')
    expect(stepsOf(last)).toEqual([3, 4, 5])
    expect(last.json['next_after_step']).toBeNull()
  })

  it('are filtered by the ids they consumed, any of them, whole ids only [history.commits-filter]', async () => {
    expect(stepsOf(await commits('record_id=r1'))).toEqual([1, 5])
    expect(stepsOf(await commits('record_id=r2&record_id=r3'))).toEqual([1, 2])
    expect(stepsOf(await commits('record_id=r'))).toEqual([])
    expect(stepsOf(await commits('record_id=r1&after_step=1'))).toEqual([5])
    expect((await commits('record_id=r1&limit=1')).json['next_after_step']).toBe(1)
  })

  it('outlive the bodies of what they consumed [history.commits-after-eviction]', async () => {
    const small = await plantHistory({ 'storage.record_capacity_bytes': 600 })
    await importInference(small.here, PLANTED, 'newest', { text: 'x'.repeat(400) })
    await until(async () => (await small.here.get(`/svc/scenarios/${PLANTED}/records/r1`)).status === 404)
    expect(stepsOf(await small.here.get(`/svc/scenarios/${PLANTED}/commits?record_id=r1`))).toEqual([1, 5])
    expect(await recordIds(small.here, PLANTED)).toContain('r1')
    await small.close()
  })
})

describe('the releases', () => {
  it('are rows newest first, one of them current [history.releases] [release.row] [release.operations]', async () => {
    const answer = await releases()
    const rows = rowsOf(answer, 'releases')
    expect(Object.keys(answer.json)).toEqual(['scenario', 'releases'])
    expect(rows.map((row) => row['step'])).toEqual([5, 4, 3, 2, 1, 0])
    expect(rows.map((row) => row['result'])).toEqual(['published', 'published', 'pending', 'rejected', 'published', 'published'])
    expect(rows.filter((row) => row['current'] === true).map((row) => row['step'])).toEqual([5])
    expect(rows.map((row) => row['restorable'])).toEqual([true, false, false, true, true, true])
    expect(rows.at(-1)).toMatchObject({ operation: 'create', parent_release_id: null, pending: false, recorded_at: 1_700_000_000.5 })
  })

  it('come page by page, newest first, each row as in the whole list, until there is no next [history.releases]', async () => {
    const whole = rowsOf(await releases(), 'releases')
    const paged: unknown[] = []
    for (let from: string | null = ''; from !== null;) {
      const page: Answer = await releases(`?limit=2${from}`)
      expect(Object.keys(page.json)).toEqual(['scenario', 'releases', 'next_before_step'])
      paged.push(...rowsOf(page, 'releases'))
      const next = page.json['next_before_step']
      from = typeof next === 'number' ? `&before_step=${next}` : null
    }
    expect(paged).toEqual(whole)
    expect((await releases('?before_step=0')).json).toMatchObject({ releases: [], next_before_step: null })
    expect(rowsOf(await releases('?before_step=2'), 'releases')).toEqual(whole.slice(-2))
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'before_step=-1', 'before_step=x'])
      expectRefusal(await releases(`?${query}`), 400, 'invalid_query')
  })

  it('have ids of git, and equal content has an equal id [release.identity] [release.ids]', async () => {
    const { created, trained, head } = planted.releases
    for (const id of [created.release_id, created.content_id, head.release_id]) expect(id).toMatch(/^[0-9a-f]{40}$/)
    expect(head.content_id).toBe(trained.content_id)
    expect(head.release_id).not.toBe(trained.release_id)
    expect(created.content_id).not.toBe(trained.content_id)
    expect(rowsOf(await releases(), 'releases')[0]).toMatchObject({ ...head })
  })

  it('show the named metrics on the row itself [release.lifted]', async () => {
    const rows = rowsOf(await releases(), 'releases')
    expect(rows[4]).toMatchObject({ wins: 3, losses: 1, metrics: { wins: 3, own: { x: 1 } } })
    expect(rows[4]).not.toHaveProperty('own')
    expect(rows[3]).toMatchObject({ current_score: 0.5 })
  })
})

describe('the head', () => {
  it('does not move back to what cannot be restored [movement.not-restorable] [errors.409-rollback]', async () => {
    expectRefusal(await move('rollback', planted.releases.held.release_id), 409, 'not_restorable')
    expectRefusal(await move('rollback', planted.releases.live.release_id), 409, 'not_restorable')
  })

  it('is not promoted to what is not held [movement.not-held]', async () => {
    expectRefusal(await move('promote', planted.releases.trained.release_id), 409, 'not_held')
  })

  it('stays where it is when it is named itself [movement.head]', async () => {
    const { release_id, content_id } = planted.releases.head
    expect((await move('rollback', release_id)).json).toEqual({ scenario: PLANTED, release_id, content_id, step: 5 })
    expect(stepsOf(await commits())).toEqual([1, 2, 3, 4, 5])
  })
})

it.each(['records', 'records/i0', 'commits', 'releases'])('%s answers no-store [history.no-store]', async (path) => {
  expect((await here.get(`/svc/scenarios/read/${path}`)).headers['cache-control']).toBe('no-store')
})
