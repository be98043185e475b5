/** Records on their way in: one, many, and reports; what is the same, what is a conflict, what may be quoted. */
import { describe, expect, it } from 'vitest'
import { sharedWorld, type Answer } from '../support/world.ts'
import {
  expectRefusal,
  importInference,
  inference,
  named,
  OPEN_RECIPE,
  recordIds,
  reportEnvelope,
  rowsOf,
  textAt,
} from './support/helpers.ts'

const here = sharedWorld({ settings: { recipe: OPEN_RECIPE } })

const readRecord = (scenario: string, id: string): Promise<Answer> => here.get(`/svc/scenarios/${scenario}/records/${id}`)
const send = (scenario: string, body: object): Promise<Answer> => here.post('/svc/records', body, named(scenario))
const batch = (scenario: string, records: readonly object[]): Promise<Answer> =>
  here.post('/svc/records/batch', { records }, named(scenario))
const report = (scenario: string, body: object): Promise<Answer> => here.post('/svc/report', body, named(scenario))

describe('an import', () => {
  it('answers with the receipt and keeps the payload as it came [import.response] [import.envelope] [record.fields]', async () => {
    const answer = await send('one', inference('a', { odd: { b: [1, null] } }))
    expect(answer).toMatchObject({ status: 200, json: { agent_record_id: 'a', scenario: 'one', request_type: 'inference' } })
    expect(Object.keys(answer.json)).toHaveLength(3)
    expect((await readRecord('one', 'a')).json['payload']).toEqual({ ...Object(inference('a')['payload']), odd: { b: [1, null] } })
  })

  it('asks no model and is given no release [import.rule-5] [decisions.artifact-ref]', async () => {
    await send('one', inference('quiet'))
    expect(here.upstream.received).toEqual([])
    expect((await readRecord('one', 'quiet')).json).toMatchObject({ artifact_ref: null, references: [], score: null })
  })

  it('takes its place in the order of live traffic [import.rule-6]', async () => {
    await send('mixed', inference('before'))
    const live = await here.exchange('mixed')
    await send('mixed', inference('after'))
    expect(await recordIds(here, 'mixed')).toEqual(['before', live, 'after'])
  })

  it('carries the tags of its headers, and the release header binds as everywhere [import.headers]', async () => {
    await here.post('/svc/records', inference('t'), { ...named('tagged'), 'x-svc-tag-run': '7' })
    expect((await readRecord('tagged', 't')).json).toMatchObject({ payload: { metadata: { tags: { run: '7' } } } })
    const answer = await here.post('/svc/records', inference('u'), { ...named('tagged'), 'x-svc-release-id': 'other' })
    expectRefusal(answer, 409, 'other_release')
  })

  it('repeated alike answers the same receipt and stores nothing more [import.rule-1] [record.append-identical]', async () => {
    await send('again', inference('a', { x: 1, y: { p: 1, q: 2 } }))
    const payload = { y: { q: 2, p: 1 }, x: 1, ...Object(inference('a')['payload']) }
    const answer = await send('again', { payload, request_type: 'inference', agent_record_id: 'a' })
    expect(answer).toMatchObject({ status: 200, json: { agent_record_id: 'a' } })
    expect(await recordIds(here, 'again')).toEqual(['a'])
  })

  it.each([
    ['another value', inference('a', { x: 2 })],
    ['another member', inference('a', { x: 1, y: 1 })],
    ['another type', reportEnvelope('a', {})],
    ['a member less', inference('a')],
  ])(
    'repeated with %s is a conflict that changes nothing [import.rule-2] [record.append-different] [decisions.identical-content]',
    async (_, other) => {
      await send('conflict', inference('a', { x: 1 }))
      expectRefusal(await send('conflict', other), 409, 'record_conflict')
      expect((await readRecord('conflict', 'a')).json).toMatchObject({ payload: { x: 1 } })
      expect(await recordIds(here, 'conflict')).toEqual(['a'])
    },
  )

  it('repeated with other tags is other content [decisions.identical-content]', async () => {
    await send('retag', inference('a'))
    expectRefusal(await here.post('/svc/records', inference('a'), { ...named('retag'), 'x-svc-tag-a': '1' }), 409, 'record_conflict')
  })

  it('is of an inference or a report, and a bad one is 400 [import.types] [import.rule-3]', async () => {
    for (const request_type of ['train', 'other', 3, null])
      expect((await send('one', { ...inference('bad'), request_type })).status).toBe(400)
    expect(await recordIds(here, 'one')).not.toContain('bad')
  })

  it('of a report obeys every rule of reports [import.rule-4]', async () => {
    await importInference(here, 'imported', 'a')
    expect((await send('imported', reportEnvelope('r', { score: 0.5, references: ['a'], extra: 1 }))).status).toBe(200)
    const { json, text } = await readRecord('imported', 'r')
    expect(json).toMatchObject({ score: 0.5, references: ['a'], payload: { score: 0.5, references: ['a'] } })
    expect(text).not.toContain('extra')
    for (const [payload, code] of [
      [{ references: ['a', 'a'] }, 'repeated_reference'],
      [{ references: ['r'] }, 'not_an_inference'],
      [{ references: ['zz'] }, 'unknown_reference'],
      [{ metadata: { training: { eligible: true } } }, 'eligibility_removed'],
      [{ metadata: { grade: 'F' } }, 'report_schema'],
      [{ score: true }, 'invalid_field'],
    ] as const) {
      expectRefusal(await send('imported', reportEnvelope('s', payload)), 400, code, /^payload\./)
    }
  })
})

describe('a batch', () => {
  it('answers receipts in its own order, whatever was there before [batch.response] [batch.rule-2]', async () => {
    await importInference(here, 'batch', 'b')
    const records = [inference('c'), inference('b'), inference('a'), reportEnvelope('r', { references: ['c', 'a'], score: 1 })]
    for (const answer of [await batch('batch', records), await batch('batch', records)]) {
      expect(answer.status).toBe(200)
      expect(rowsOf(answer, 'records').map((row) => row['agent_record_id'])).toEqual(['c', 'b', 'a', 'r'])
      expect(rowsOf(answer, 'records').at(-1)).toEqual({ agent_record_id: 'r', scenario: 'batch', request_type: 'report' })
    }
    expect(await recordIds(here, 'batch')).toEqual(['b', 'c', 'a', 'r'])
  })

  it.each([
    ['a bad record', [inference('x'), { ...inference('y'), extra: 1 }], 400],
    ['a missing reference', [inference('x'), reportEnvelope('y', { references: ['none'] })], 400],
    ['a report before its inference', [reportEnvelope('y', { references: ['x'] }), inference('x')], 400],
    ['a report that quotes itself', [inference('x'), reportEnvelope('y', { references: ['y'] })], 400],
    ['a report that quotes a report', [inference('x'), reportEnvelope('y', {}), reportEnvelope('z', { references: ['y'] })], 400],
    ['a conflict with what is stored', [inference('x'), inference('held', { changed: 1 })], 409],
    ['a conflict within itself', [inference('x'), inference('x', { changed: 1 })], 409],
  ])('with %s keeps nothing of it [batch.rule-1] [batch.order]', async (_, records, status) => {
    await importInference(here, 'whole', 'held')
    expect((await batch('whole', records)).status).toBe(status)
    expect(await recordIds(here, 'whole')).toEqual(['held'])
  })

  it('shares the scenario, release and tags of its request [batch.shared-headers]', async () => {
    const records = [inference('p'), inference('q')]
    await here.post('/svc/records/batch', { records }, { ...named('shared'), 'x-svc-tag-run': '9' })
    for (const id of ['p', 'q'])
      expect((await readRecord('shared', id)).json).toMatchObject({ payload: { metadata: { tags: { run: '9' } } } })
    const other = await here.post('/svc/records/batch', { records: [inference('s')] }, { ...named('shared'), 'x-svc-release-id': 'x' })
    expectRefusal(other, 409, 'other_release')
  })
})

describe('a report', () => {
  it('keeps four fields, drops the rest, and takes its own id [report.fields] [report.own-id] [report.response]', async () => {
    const receipt = await here.exchange('reports')
    const kept = { score: 0.25, feedback: { a: 1 }, references: [receipt], metadata: { b: 2 } }
    const answer = await report('reports', { agent_record_id: 'mine', ...kept, other: 'dropped', tags: {} })
    expect(answer.json).toEqual({ agent_record_id: 'mine', scenario: 'reports', request_type: 'report' })
    const { json } = await readRecord('reports', 'mine')
    expect(json['payload']).toEqual(kept)
    expect(json).toMatchObject({ request_type: 'report', references: [receipt], score: 0.25, artifact_ref: null })
  })

  it('without an id is given one of 32 hex characters that sort by age [decisions.record-id]', async () => {
    const ids: string[] = []
    for (let n = 0; n < 20; n += 1) ids.push(textAt((await report('aged', {})).json, 'agent_record_id'))
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
    expect(ids.toSorted()).toEqual(ids)
    expect(await recordIds(here, 'aged')).toEqual(ids)
  })

  it('may have any finite score, feedback of text or an object, and metadata [report.score] [report.feedback] [report.metadata]', async () => {
    for (const body of [{ score: 0 }, { score: -1e300 }, { feedback: '' }, { feedback: {} }, { metadata: {} }])
      expect((await report('free', body)).status).toBe(200)
    for (const body of [{ score: false }, { score: '1' }, { feedback: 3 }, { feedback: [] }, { metadata: 'm' }, { metadata: [] }])
      expect((await report('free', body)).status).toBe(400)
  })

  it('may quote nothing [decisions.report-no-references]', async () => {
    expect((await report('free', { references: [] })).status).toBe(200)
    expect((await report('free', { score: 1 })).status).toBe(200)
  })

  it.each([true, false, null, 'no'])(
    'that says metadata.training.eligible: %j is refused [report.eligible] [versioning.eligible-removed]',
    async (eligible) => {
      const answer = await report('free', { agent_record_id: 'opted', metadata: { training: { eligible } } })
      expectRefusal(answer, 400, 'eligibility_removed', 'metadata.training.eligible')
      expect(await recordIds(here, 'free')).not.toContain('opted')
    },
  )

  it.each([
    ['nothing stored', ['none'], 'unknown_reference'],
    ['a receipt of another scenario', ['foreign'], 'unknown_reference'],
    ['a report', ['a-report'], 'not_an_inference'],
    ['a receipt twice', ['ours', 'ours'], 'repeated_reference'],
    ['itself', ['self'], 'unknown_reference'],
  ])('that quotes %s is refused and stores nothing [report.rule-1] [report.references]', async (_, references, code) => {
    await importInference(here, 'elsewhere', 'foreign')
    await importInference(here, 'quoting', 'ours')
    await report('quoting', { agent_record_id: 'a-report' })
    const quoted = references.length > 1 ? references : ['ours', ...references]
    expectRefusal(await report('quoting', { agent_record_id: 'self', references: quoted }), 400, code, /^references\[1\]/)
    expect(await recordIds(here, 'quoting')).toEqual(['ours', 'a-report'])
  })

  it('sent again alike is answered as before; with other content it is a conflict [report.rule-2]', async () => {
    await importInference(here, 'resent', 'a')
    const body = { agent_record_id: 'r', score: 1, references: ['a'], metadata: { x: 1, y: 2 } }
    await report('resent', body)
    expect((await report('resent', { ...body, metadata: { y: 2, x: 1 }, dropped: true })).status).toBe(200)
    expectRefusal(await report('resent', { ...body, score: 2 }), 409, 'record_conflict')
    expectRefusal(await report('resent', { ...body, references: [] }), 409, 'record_conflict')
    expect(await recordIds(here, 'resent')).toEqual(['a', 'r'])
  })

  it("is held to its recipe's schema, and feedback and other metadata pass through [report.rule-3]", async () => {
    expectRefusal(await report('graded', { metadata: { grade: 'F' } }), 400, 'report_schema')
    expect((await report('graded', { metadata: { grade: 'A', more: 1 }, feedback: 'grade F' })).status).toBe(200)
  })
})

it('scenarios share no records: one id may stand in two of them [scenario.isolation]', async () => {
  await importInference(here, 'left', 'same')
  await importInference(here, 'right', 'same', { other: true })
  expect((await readRecord('left', 'same')).text).not.toContain('other')
  expect((await report('left', { references: ['same'] })).status).toBe(200)
})
