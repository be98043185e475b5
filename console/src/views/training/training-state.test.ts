import { describe, expect, it } from 'vitest'
import { chainOf, rowOf, statusWith } from '../../data/testing/rows.ts'
import { outcomeSeries, trainingStateOf, troublesOf } from './training-state.ts'

describe('how training stands', () => {
  it('is read for a scenario that learns', () => {
    const processor = {
      batch_size: 4,
      buffered_units: 3,
      buffered_requests: 1,
      pending_instructions: 1,
      set_aside: { 'quotes no receipt': 2, odd: 'x' },
    }
    const last_committed_step = { step: 7, recorded_at: 12.5, metrics: {} }
    const scenarios = { demo: { training_mode: 'hybrid', batch_ready: true, processor, last_committed_step } } as const
    expect(trainingStateOf(statusWith({ scenarios }), 'demo')).toEqual({
      mode: 'hybrid',
      lastStep: { step: 7, at: 12.5 },
      learns: true,
      trainers: [
        {
          name: '',
          isReady: true,
          pendingInstructions: 1,
          setAside: [['quotes no receipt', 2]],
          gathered: { count: 3, of: 4 },
          stopped: null,
          facts: [
            ['Samples a step takes', '4'],
            ['Samples gathered', '3'],
          ],
        },
      ],
    })
  })

  it('is read for every trainer of a scenario with several', () => {
    const component = {
      batch_ready: false,
      training_mode: 'hybrid' as const,
      last_committed_step: null,
      processor: { pending_instructions: 0, automatic_steps_stopped: 'evolution.max_steps (3) is used up' },
    }
    const scenarios = { demo: { processor: {}, components: { prompts: component, weights: component } } }
    const state = trainingStateOf(statusWith({ scenarios }), 'demo')
    expect(state?.trainers.map(({ name, stopped }) => [name, stopped])).toEqual([
      ['prompts', 'evolution.max_steps (3) is used up'],
      ['weights', 'evolution.max_steps (3) is used up'],
    ])
  })

  it('says that a recipe learns nothing', () => {
    expect(trainingStateOf(statusWith({ scenarios: { demo: { processor: {}, training_mode: 'auto' } } }), 'demo')?.learns).toBe(false)
  })

  it('is not known of a scenario that is not in memory', () => {
    expect(trainingStateOf(statusWith({}), 'demo')).toBeNull()
    expect(trainingStateOf(statusWith({}), 'toString')).toBeNull()
  })
})

describe('what went wrong', () => {
  it('is listed for this scenario alone, each with its cure', () => {
    const error = [
      'demo: StepFailure: out of memory',
      'demo/prompts: Overtaken: rests',
      'demo2: StepFailure: other',
      'demo: disk full',
    ].join('\n')
    const troubles = troublesOf(statusWith({ error, preload_errors: { demo: 'recipe missing' } }), 'demo')
    expect(troubles.map(({ line }) => line)).toEqual([
      'recipe missing',
      'StepFailure: out of memory',
      'prompts: Overtaken: rests',
      'disk full',
    ])
    expect(troubles.map(({ cure }) => cure.slice(0, 20))).toEqual([
      'Fix the cause it nam',
      'Traffic is retried, ',
      'The head moved three',
      'The service itself f',
    ])
  })

  it('is nothing while nothing did', () => {
    expect(troublesOf(statusWith({}), 'demo')).toEqual([])
  })
})

describe('the history of steps', () => {
  it('counts their outcomes by the time they settled', () => {
    const chain = chainOf(
      rowOf(0),
      rowOf(1, { recorded_at: 1000 }),
      rowOf(2, { recorded_at: 1001, result: 'rejected' }),
      rowOf(3, { recorded_at: 1001, result: 'rejected' }),
      rowOf(4, { recorded_at: 1003, operation: 'rollback' }),
    )
    expect(outcomeSeries(chain)).toEqual([
      { name: 'Published', tone: 'good', points: [{ x: 1000, y: 1 }] },
      { name: 'Rejected', tone: 'plain', points: [{ x: 1001, y: 2 }] },
    ])
  })

  it('is never drawn in more bars than can be distinguished', () => {
    const rows = Array.from({ length: 500 }, (_, step) => rowOf(step + 1, { recorded_at: 1_000_000 + step * 3601 }))
    expect(outcomeSeries(chainOf(...rows))[0]?.points.length).toBeLessThanOrEqual(25)
  })

  it('is empty before the first step', () => {
    expect(outcomeSeries(chainOf(rowOf(0)))).toEqual([])
  })
})
