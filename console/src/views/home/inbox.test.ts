import { describe, expect, it } from 'vitest'
import type { ReleaseRow, StatusReport, StepProgress } from '@svc-ai/client'
import { rowOf, statusWith } from '../../data/testing/rows.ts'
import { byScenario, inboxOf, narrowed, type StepAtWork } from './inbox.ts'
import { newestRows } from './use-inbox.ts'

const NOW = 1_794_757_869 + 3600
const waits = { batch_size: 4, buffered_units: 1, pending_instructions: 0 }
const withDemo = (own: object): StatusReport => statusWith({ scenarios: { demo: { training_mode: 'hybrid', processor: waits, ...own } } })
const inbox = (status: StatusReport, ...rows: readonly ReleaseRow[]) =>
  inboxOf(status, [{ scenario: 'demo', rows: rows.toReversed(), isWhole: true }], NOW)

const request = (text: string) => ({ training_request: { id: 'r', text } })
const held = rowOf(1, { result: 'pending', pending: true, metrics: { ...request('Be brief.'), held_because: 'it adds a skill' } })

describe('what waits for a person', () => {
  it('is a held release, in the words of who asked for it, until it is promoted or rejected', () => {
    expect(inbox(withDemo({}), rowOf(0), held).decisions).toMatchObject([
      { scenario: 'demo', step: 1, title: 'Be brief.', line: 'it adds a skill' },
    ])
    for (const operation of ['promote', 'reject'] as const)
      expect(inbox(withDemo({}), rowOf(0), held, rowOf(2, { operation, rollback_target_release_id: held.release_id })).decisions).toEqual(
        [],
      )
  })

  it('is a budget that is used up, which is not waiting for traffic', () => {
    const stopped = withDemo({ processor: { ...waits, automatic_steps_stopped: 'evolution.max_steps (2) is used up' } })
    const { decisions, forTraffic } = inbox(stopped, rowOf(0))
    expect(decisions).toMatchObject([{ title: 'evolution.max_steps (2) is used up', view: 'settings' }])
    expect(forTraffic).toEqual([])
  })
})

describe('of many scenarios', () => {
  const second = { ...held, step: 2, release_id: 'second' }
  const all = inboxOf(
    null,
    [
      { scenario: 'Shop', rows: [second, held, rowOf(0)], isWhole: true },
      { scenario: 'desk', rows: [held, rowOf(0)], isWhole: true },
    ],
    NOW,
  )

  it('what waits in one stands together', () => {
    expect(byScenario(all.decisions).map((group) => group.map(({ scenario }) => scenario))).toEqual([['Shop', 'Shop'], ['desk']])
  })

  it('those are left whose names hold what is typed, whatever its case', () => {
    expect(narrowed(all, ' sHO ').decisions.map(({ scenario }) => scenario)).toEqual(['Shop', 'Shop'])
    expect(narrowed(all, '').decisions).toHaveLength(3)
    expect(narrowed(all, 'nobody')).toMatchObject({ decisions: [], week: [], weekSpent: null })
  })
})

const tasksIn = (proposedTasks: number) =>
  inboxOf(withDemo({}), [{ scenario: 'demo', rows: [rowOf(0)], isWhole: true, proposedTasks }], NOW)

describe('tasks that were mined', () => {
  it('wait for a person until they are accepted or dropped, and lead to the tasks', () => {
    expect(tasksIn(3).decisions).toMatchObject([{ title: '3 mined tasks wait for acceptance', step: null, view: 'tasks' }])
    expect(tasksIn(1).decisions).toMatchObject([{ title: '1 mined task waits for acceptance' }])
    expect(tasksIn(0).decisions).toEqual([])
  })
})

describe('for a token that is for single scenarios', () => {
  it('there is what their rows say, and nothing of the deployment', () => {
    const failed = rowOf(2, { result: 'failed', metrics: { error: 'no answer' } })
    const rows = [failed, held, rowOf(0)]
    const { decisions, failures, forTraffic, working } = inboxOf(null, [{ scenario: 'demo', rows, isWhole: true }], NOW)
    expect([decisions.length, failures.length, forTraffic.length, working.length]).toEqual([1, 1, 0, 0])
  })
})

describe('what waits for traffic', () => {
  it('is a scenario that gathers samples, and one with an unproven release', () => {
    expect(inbox(withDemo({}), rowOf(0)).forTraffic).toMatchObject([{ title: '1 of 4 samples for the next step' }])
    const provisional = { release_id: 'r', step: 3, gain: 0.1, canary_share: 0.25, live_scores: null }
    expect(inbox(withDemo({ provisional }), rowOf(0)).forTraffic).toMatchObject([{ step: 3, line: 'It is served to 25% of sessions.' }, {}])
  })

  it.each([
    ['in manual mode', { training_mode: 'manual' }],
    ['that learns nothing', { processor: {} }],
    ['whose step is ready', { batch_ready: true }],
  ])('is no scenario %s', (_, own) => {
    expect(inbox(withDemo(own), rowOf(0)).forTraffic).toEqual([])
  })
})

describe('what failed', () => {
  const failed = rowOf(1, { result: 'failed', metrics: { ...request('x'), error: 'no answer', skipped: 'instruction failed' } })

  it('is a step of this week with what to do, once', () => {
    expect(inbox(withDemo({}), rowOf(0), failed).failures).toMatchObject([
      { step: 1, title: 'x', line: 'instruction failed: no answer. Fix the cause, then ask again: a request is not retried by itself.' },
    ])
    const told = { ...withDemo({}), error: 'demo: StepFailure: no answer' }
    expect(inbox(told, rowOf(0), failed).failures).toMatchObject([{ step: 1, title: 'x' }])
    expect(inbox(told, rowOf(0)).failures).toMatchObject([{ step: null, title: 'StepFailure: no answer' }])
    expect(inbox(withDemo({}), { ...failed, recorded_at: NOW - 8 * 24 * 3600 }).failures).toEqual([])
  })

  it('is a scenario that could not be loaded, though nothing else is known of it', () => {
    const status = { ...withDemo({}), preload_errors: { lost: 'the repository is damaged' } }
    expect(inbox(status, rowOf(0)).failures).toMatchObject([{ scenario: 'lost', title: 'the repository is damaged' }])
  })

  it('is a store that takes no records, first of all', () => {
    const status = withDemo({})
    const full = { ...status, storage: { ...status.storage, error: { code: 'disk_full', message: 'the disk is full' } } }
    expect(inbox(full, rowOf(0), failed).failures).toMatchObject([{ scenario: '', title: 'the disk is full' }, { step: 1 }])
  })
})

describe('what works now', () => {
  const progress: StepProgress = {
    component: '',
    request_id: 'r',
    state: 'evaluating',
    meaning: 'It is played.',
    started_at: NOW - 60,
    episodes_total: 40,
    episodes_played: 12,
    input_tokens: 0,
    output_tokens: 0,
    cost: null,
    seconds_left: 180,
    step_record: null,
    activity: [],
    episodes: [],
  }
  const ready = withDemo({ batch_ready: true })
  const working = (...steps: readonly Omit<StepAtWork, 'scenario'>[]) =>
    inboxOf(
      ready,
      [{ scenario: 'demo', rows: [rowOf(0)], isWhole: true }],
      NOW,
      steps.map((step) => ({ scenario: 'demo', ...step })),
    ).working

  it('is what was asked for, with how far it is and how long it takes', () => {
    expect(working({ asked: 'Be brief.', progress })).toMatchObject([
      { title: 'Be brief.', line: 'It is played. · 12 episodes, at most 40 · at most 3 min left', at: NOW - 60 },
    ])
    expect(working({ asked: null, progress: { ...progress, request_id: null } })).toMatchObject([{ title: 'Learns from traffic' }])
    expect(working({ asked: null, progress })).toMatchObject([{ title: 'Works on a request' }])
  })

  it('is a step of which nothing more is known yet', () => {
    expect(working()).toMatchObject([{ title: 'A step runs or is next', line: null }])
  })
})

describe('what the week brought', () => {
  it('has a row for a scenario that improved or spent, and a total', () => {
    const spent = { input_tokens: 10, output_tokens: 1, cost: 2 }
    const better = rowOf(1, { metrics: { current_mean_score: 0.25, candidate_mean_score: 0.75, spent } })
    const { week, weekSpent } = inbox(withDemo({}), rowOf(0), better)
    expect(week).toMatchObject([{ scenario: 'demo', gains: { before: 0.25, after: 0.75 } }])
    expect(weekSpent?.cost).toBe(2)
    expect(inbox(withDemo({}), rowOf(0)).week).toEqual([])
  })
})

describe('the steps of a scenario', () => {
  const chain = Array.from({ length: 2000 }, (_, at) => rowOf(1999 - at, { recorded_at: 1999 - at }))
  const service = {
    releasePage: async ({ before_step: before = Infinity }: { before_step?: number } = {}) => {
      const rows = chain.filter(({ step }) => step < before).slice(0, 100)
      return { releases: rows, next: rows.at(-1)?.step === 0 ? null : (rows.at(-1)?.step ?? null) }
    },
  }

  it.each([
    ['those of the week', 1501, 500],
    ['some more than a short week has', 1990, 300],
    ['not all of a week with very many', 0, 1000],
  ])('are read newest first: %s', async (_, since, count) => {
    const { rows, isWhole } = await newestRows(service, since)
    expect(rows[0]?.step).toBe(1999)
    expect(rows.length).toBe(count)
    expect(isWhole).toBe(false)
  })
})
