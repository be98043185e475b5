/** Over its capacity the store evicts bodies, oldest first, and nothing else. */
import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '../support/wait.ts'
import { sharedWorld, type Answer } from '../support/world.ts'
import { expectRefusal, importInference, inference, named, recordIds, reportEnvelope } from './support/helpers.ts'

const CAPACITY = 4000
const SCENARIO = 'small'
const FILLER = { text: 'x'.repeat(1000) }

const here = sharedWorld({ backend: 'sqlite', settings: { 'storage.record_capacity_bytes': CAPACITY } })
beforeAll(async () => {
  await importInference(here, SCENARIO, 'first', FILLER)
  await here.post('/svc/records', reportEnvelope('judged', { references: ['first'], score: 1 }), named(SCENARIO))
  for (const id of ['a', 'b', 'c', 'd', 'e']) await importInference(here, SCENARIO, id, FILLER)
  await until(async () => (await readRecord('a')).status === 404)
})

const readRecord = (id: string): Promise<Answer> => here.get(`/svc/scenarios/${SCENARIO}/records/${id}`)
const lossesInLog = (): number =>
  here.log.filter(({ event }) => event === 'records_evicted').reduce((total, { records }) => total + Number(records), 0)

describe('a body that was evicted', () => {
  it('is 404, the oldest first, while the newest is still there [record.capacity-evicts] [history.record-missing]', async () => {
    expectRefusal(await readRecord('first'), 404, 'record_expired')
    expectRefusal(await readRecord('a'), 404, 'record_expired')
    expect((await readRecord('e')).status).toBe(200)
  })

  it('leaves its row in the list, with references and score', async () => {
    expect(await recordIds(here, SCENARIO)).toEqual(['first', 'judged', 'a', 'b', 'c', 'd', 'e'])
    const { json } = await here.get(`/svc/scenarios/${SCENARIO}/records?request_type=report`)
    expect(json).toMatchObject({ records: [{ agent_record_id: 'judged', references: ['first'], score: 1 }] })
  })

  it('still answers an identical retry, alone and in a batch [record.capacity-dedupe] [import.rule-1] [batch.rule-2]', async () => {
    const retry = inference('first', FILLER)
    const judged = reportEnvelope('judged', { score: 1, references: ['first'] })
    expect((await here.post('/svc/records', retry, named(SCENARIO))).json).toMatchObject({ agent_record_id: 'first' })
    expect((await here.post('/svc/records/batch', { records: [retry, judged] }, named(SCENARIO))).status).toBe(200)
    expect((await here.post('/svc/report', { agent_record_id: 'judged', score: 1, references: ['first'] }, named(SCENARIO))).status).toBe(
      200,
    )
    expect(await recordIds(here, SCENARIO)).toHaveLength(7)
    expect((await readRecord('first')).status).toBe(404)
  })

  it('still conflicts with other content [record.capacity-dedupe]', async () => {
    expectRefusal(await here.post('/svc/records', inference('first', { text: 'other' }), named(SCENARIO)), 409, 'record_conflict')
  })

  it('may still be quoted', async () => {
    expect((await here.post('/svc/report', { references: ['a'] }, named(SCENARIO))).status).toBe(200)
  })
})

it('what was lost is warned about in the log, and counted in the status for good [record.capacity-warns] [record.capacity-totals] [status.losses]', async () => {
  const { json } = await here.get('/svc/status')
  const lost = lossesInLog()
  expect(lost).toBeGreaterThanOrEqual(2)
  expect(here.log.find(({ event }) => event === 'records_evicted')).toMatchObject({ level: 'warn', scenario: SCENARIO })
  expect(json).toMatchObject({
    storage: { capacity_bytes: CAPACITY, lost_records: lost },
    scenarios: { [SCENARIO]: { processor: { record_data_incomplete: true, evicted_record_count: lost } } },
  })
  await here.restart()
  await here.get(`/svc/scenarios/${SCENARIO}/contract`)
  expect((await here.get('/svc/status')).json).toMatchObject({
    storage: { lost_records: lost },
    scenarios: { [SCENARIO]: { processor: { evicted_record_count: lost } } },
  })
})
