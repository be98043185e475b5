/** The outcome of a step as a row: every verdict, every failure, and the further metrics. */
import { describe, expect, it } from 'vitest'
import { STEP_FAILURES_MAX, type Content, type JsonObject, type TrainRequest } from '../contract/index.ts'
import { draftOf, type Circumstances, type Settled } from './draft.ts'
import { StepFailure } from './hosts/host.ts'

const content: Content = { kind: 'files', files: { a: 'b' } }
const request: TrainRequest = { id: 'i', text: 'please', session: 's', release_id: 'r', requires: [{ name: 'MINE', kind: 'env' }] }
const sample = { record_ids: ['x', 'report'], exchanges: [], score: null, feedback: null }

const around = (more: Partial<Circumstances> = {}): Circumstances => ({
  component: '',
  reserved: { batch: { id: 'b', samples: [sample], request: null }, problem: null },
  judgesCommands: false,
  failures: 0,
  losses: { records: 0, bytes: 0 },
  mergedOnto: null,
  contentId: 'kept',
  live: null,
  aside: [],
  givenUp: null,
  memory: (consumed, trainer) => ({ settled_through: consumed.length, set_aside: {}, trainer: trainer ?? { kept: true } }),
  ...more,
})
const asked = (more: Partial<Circumstances> = {}) =>
  around({ ...more, reserved: { batch: { id: 'b', samples: [sample], request }, problem: null } })
const requestOf = (result: Settled | StepFailure) => draftOf(result, asked()).metrics['training_request']

const noReply = { proposal_notes: { failure: 'no reply' } }

describe('a verdict', () => {
  it.each<[Settled, string, string | null, JsonObject]>([
    [{ kind: 'publish', content }, 'published', 'kept', {}],
    [{ kind: 'hold', content }, 'pending', 'kept', {}],
    [{ kind: 'reject' }, 'rejected', null, {}],
    [{ kind: 'reject', content }, 'rejected', 'kept', {}],
    [{ kind: 'skip', reason: 'no need' }, 'skipped', null, { skipped: 'no need' }],
    [{ kind: 'reject', metrics: { error: 'beside' } }, 'rejected', null, { error: 'beside' }],
    [{ kind: 'skip', reason: 'x', metrics: { error: 'broke' } }, 'failed', null, { skipped: 'x', error: 'broke' }],
    [{ kind: 'skip', reason: 'x', metrics: { error: ' ' } }, 'skipped', null, { skipped: 'x', error: ' ' }],
    [{ kind: 'skip', reason: 'x', metrics: noReply }, 'failed', null, { skipped: 'x', ...noReply }],
  ])('%j is %s and consumes its batch', (result, outcome, kept, metrics) => {
    const state = { settled_through: 2, set_aside: {}, trainer: { kept: true } }
    const draft = { component: '', outcome, content: kept, gain: null, live: null, consumed_ids: ['x', 'report'], metrics, state }
    expect(draftOf(result, around())).toEqual(draft)
  })

  it('that is provisional is rejected until the scenario takes it as its provisional release, and never where a person asked', () => {
    const offered: Settled = { kind: 'provisional', content, gain: 0.2, metrics: { provisional: { gain: 9 }, provisional_ended: {} } }
    expect(draftOf(offered, around())).toMatchObject({ outcome: 'rejected', content: 'kept', gain: 0.2, metrics: {} })
    expect(draftOf(offered, around()).metrics).toEqual({})
    expect(draftOf(offered, asked()).gain).toBeNull()
  })

  it('keeps the state it left, and no reason to skip in its metrics outlasts its own', () => {
    expect(draftOf({ kind: 'reject', state: { mine: 1 } }, around()).state['trainer']).toEqual({ mine: 1 })
    expect(draftOf({ kind: 'skip', reason: 'mine', metrics: { skipped: 'other' } }, around()).metrics['skipped']).toBe('mine')
  })

  it.each<JsonObject>([{ proposal_notes: {} }, { proposal_notes: null }, {}])(
    'whose notes are empty, null or absent has none: %j',
    (metrics) => {
      expect(draftOf({ kind: 'reject', metrics }, around()).metrics).toEqual({})
    },
  )
})

const askedFor = (requires: TrainRequest['requires']): Circumstances =>
  around({ reserved: { batch: { id: 'b', samples: [], request: { ...request, requires } }, problem: null } })

describe('a release that asks for something of a person’s machine', () => {
  const command = { name: 'GIT', kind: 'service', check: 'git --version' } as const

  it('is held where a check is a command, of the person’s or of the method’s', () => {
    const held = { outcome: 'pending', content: 'kept', metrics: { held_because: expect.stringContaining('GIT') } }
    expect(draftOf({ kind: 'publish', content }, askedFor([command]))).toMatchObject(held)
    expect(draftOf({ kind: 'publish', content, requires: [command] }, askedFor([]))).toMatchObject(held)
  })

  it('is published with a command where the trainer decides about those', () => {
    const judged = { ...askedFor([command]), judgesCommands: true }
    expect(draftOf({ kind: 'publish', content }, judged)).toMatchObject({ outcome: 'published' })
    expect(draftOf({ kind: 'hold', content }, judged)).toMatchObject({ outcome: 'pending' })
  })

  it('is published where a check is the name of a variable or a program, or there is none', () => {
    const published = { outcome: 'published' }
    expect(draftOf({ kind: 'publish', content }, askedFor([{ name: 'KEY', kind: 'env', check: 'OTHER' }]))).toMatchObject(published)
    expect(draftOf({ kind: 'publish', content }, askedFor([{ name: 'json', kind: 'binary', check: 'jq' }]))).toMatchObject(published)
    expect(draftOf({ kind: 'publish', content }, askedFor([{ name: 'radio', kind: 'permission' }]))).toMatchObject(published)
    expect(draftOf({ kind: 'publish', content, requires: [command] }, around())).toMatchObject(published)
  })

  it('is what it was where nothing is published', () => {
    expect(draftOf({ kind: 'reject' }, askedFor([command]))).toMatchObject({ outcome: 'rejected' })
  })
})

describe('a failure', () => {
  const failure = new StepFailure('it broke')

  it('on traffic consumes nothing, and keeps the state as it was', () => {
    expect(draftOf(failure, around())).toMatchObject({
      outcome: 'failed',
      content: null,
      consumed_ids: [],
      metrics: { error: 'it broke', skipped: 'step failed' },
      state: { trainer: { kept: true } },
    })
  })

  it('keeps the metrics of the method, except the names reserved by the service', () => {
    const measured = new StepFailure('it broke', { metrics: { failed_stage: 'evaluating', skipped: 'other', error: 'other' } })
    expect(draftOf(measured, around()).metrics).toEqual({ failed_stage: 'evaluating', skipped: 'step failed', error: 'it broke' })
  })

  it('on traffic that comes too often gives its batch up', () => {
    expect(draftOf(failure, around({ failures: STEP_FAILURES_MAX - 2 })).consumed_ids).toEqual([])
    expect(draftOf(failure, around({ failures: STEP_FAILURES_MAX - 1 }))).toMatchObject({
      outcome: 'failed',
      consumed_ids: ['x', 'report'],
      metrics: { skipped: 'batch set aside after repeated failures' },
    })
  })

  it('on an instruction consumes it at once, and nothing beside it', () => {
    expect(draftOf(failure, asked({ failures: STEP_FAILURES_MAX }))).toMatchObject({
      outcome: 'failed',
      consumed_ids: ['i'],
      metrics: { error: 'it broke', skipped: 'instruction failed', training_request: { id: 'i', requires: request.requires } },
    })
  })
})

describe('the request in a row', () => {
  it('is what was asked; what it consumes begins with it', () => {
    expect(draftOf({ kind: 'reject' }, asked()).consumed_ids).toEqual(['i', 'x', 'report'])
    expect(requestOf({ kind: 'reject' })).toEqual(request)
  })

  it("has the method's items behind the person's, and the bad ones apart", () => {
    const requires = [{ name: 'MINE', kind: 'service' }, { name: 'NEW', kind: 'env' }, 7]
    expect(requestOf({ kind: 'reject', requires })).toMatchObject({
      requires: [
        { name: 'MINE', kind: 'env' },
        { name: 'NEW', kind: 'env' },
      ],
      refused_requires: [{ item: 7 }],
    })
  })

  it('is not what the method says it is', () => {
    expect(requestOf({ kind: 'reject', metrics: { training_request: { id: 'forged' } } })).toEqual(request)
  })

  it('says how many units were beside it', () => {
    expect(draftOf({ kind: 'reject' }, asked()).metrics['samples_beside']).toBe(1)
    expect(draftOf(new StepFailure('x'), asked()).metrics).toMatchObject({ samples_kept: 1 })
  })

  it('of a batch of traffic is none', () => {
    expect(draftOf({ kind: 'reject', requires: [{ name: 'NEW', kind: 'env' }] }, around()).metrics).toEqual({})
  })
})

it('a method cannot write the metrics of the service: neither that a step failed, nor whose request it was, nor where it landed', () => {
  const step = { skipped: 'step failed', training_request: { id: 'other' }, merged_onto: 'r' }
  const counts = { samples_kept: 3, samples_beside: 3, 'records/evicted_count': 7 }
  expect(draftOf({ kind: 'publish', content, metrics: { ...step, ...counts, mine: 1 } }, around()).metrics).toEqual({ mine: 1 })
})

describe('a row also records', () => {
  it('what was set aside since the last one, each once', () => {
    expect(draftOf({ kind: 'reject' }, around({ aside: ['useless', 'x'] })).consumed_ids).toEqual(['x', 'report', 'useless'])
    expect(draftOf(new StepFailure('x'), around({ aside: ['useless'] })).consumed_ids).toEqual(['useless'])
  })

  it('on which head a stale result landed, when it published one', () => {
    const mergedOnto = { release_id: 'now', parent_release_id: null, content_id: 'c' }
    expect(draftOf({ kind: 'publish', content }, around({ mergedOnto })).metrics).toEqual({ merged_onto: 'now' })
    expect(draftOf({ kind: 'reject' }, around({ mergedOnto })).metrics).toEqual({})
  })

  it('that capacity took records', () => {
    const { metrics } = draftOf({ kind: 'reject' }, around({ losses: { records: 3, bytes: 99 } }))
    expect(metrics).toEqual({ 'records/evicted_count': 3, 'records/data_incomplete': true })
  })

  it('whose step it was', () => {
    expect(draftOf({ kind: 'reject' }, around({ component: 'weights' })).component).toBe('weights')
  })
})
