/** What a trainer says about its step, and how little of it can reach the service. */
import { describe, expect, it } from 'vitest'
import { heard, oneStep, threadHost, type Heard } from '../../../test/fixtures/trainers/hosts.ts'
import { orderTo, trainerOf } from '../../../test/fixtures/trainers/orders.ts'
import { LimitedReporter } from './reporter.ts'

/** What a report that leaves them out took. */
const NOTHING = { input_tokens: 0, output_tokens: 0, cost: null }

describe('a report out of a thread', () => {
  it('arrives in order while the step runs, long lines cut', async () => {
    const report = heard()
    await oneStep(threadHost(), trainerOf('one'), orderTo('report'), report)
    expect(report.said).toEqual([
      ['phase', 'evaluating', { episodes_total: 3, step_record: 'steps/1' }],
      ['line', 'check', '🦀'.repeat(2000), true],
      [
        'episode',
        {
          side: 'trial',
          task: 't',
          repeat: 0,
          score: null,
          words: 'w',
          seconds: 0,
          ...NOTHING,
          transcript: null,
          so_far: { episodes: 0, ...NOTHING },
        },
      ],
    ])
  })

  it('that is ill-formed is left out and does no harm', async () => {
    const report = heard()
    await oneStep(threadHost(), trainerOf('one'), orderTo('reportIllFormed'), report)
    expect(report.said).toEqual([['phase', 'proposing', {}]])
  })

  it('that comes after the step belongs to no step', async () => {
    const [host, first, second] = [threadHost(), heard(), heard()]
    await oneStep(host, trainerOf('one'), orderTo('reportLater'), first)
    await oneStep(host, trainerOf('one'), orderTo('waitTwoMilliseconds'), second)
    expect([...first.said, ...second.said]).toEqual([])
  })

  it('of a hundred thousand lines arrives as some of them and the number of the others', async () => {
    const report = heard()
    await oneStep(threadHost(), trainerOf('one'), orderTo('flood'), report)
    const texts = wordsIn(report).map(String)
    const leftOut = texts.flatMap((text) => /^(\d+) more lines were left out/.exec(text)?.[1] ?? []).map(Number)
    expect(texts.length).toBeLessThan(5000)
    expect(texts.length - leftOut.length + leftOut.reduce((sum, lines) => sum + lines, 0)).toBe(100_000)
  })

  it('that the service cannot take fails the step and nothing else', async () => {
    const host = threadHost()
    const broken = { ...heard(), line: () => throwing('no room for lines') }
    await expect(oneStep(host, trainerOf('one'), orderTo('report'), broken)).rejects.toThrow('no room for lines')
    expect((await oneStep(host, trainerOf('one'), orderTo('count'))).metrics).toMatchObject({ taken: 1 })
  })
})

/** The texts of lines, the details of phases. */
const wordsIn = ({ said }: Heard): readonly unknown[] => said.map((one) => (Array.isArray(one) ? one[2] : one))

function throwing(message: string): never {
  throw new Error(message)
}

describe('reporter', () => {
  it('passes fifty a second on, and reports the number of the others when the next second begins', () => {
    let now = 0
    const report = heard()
    const reporter = new LimitedReporter(report, () => now)
    for (let line = 1; line <= 60; line += 1) reporter.line('agent', String(line))
    expect(report.said).toHaveLength(50)
    now = 1000
    reporter.line('check', 'next')
    expect(wordsIn(report).slice(50)).toEqual(['10 more lines were left out: 50 a second are passed on', 'next'])
  })

  it('keeps the latest of the phases that had no room, with all that was said beside them', () => {
    const report = heard()
    const reporter = new LimitedReporter(report, () => 0)
    for (let line = 1; line <= 50; line += 1) reporter.line('agent', String(line))
    reporter.phase('proposing', { step_record: 'steps/7' })
    reporter.phase('evaluating', { episodes_total: 4 })
    expect(report.said).toHaveLength(50)
    reporter.close()
    expect(report.said.slice(50)).toEqual([['phase', 'evaluating', { step_record: 'steps/7', episodes_total: 4 }]])
  })

  it('reports what it left out even when the trainer reports nothing more', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const reporter = new LimitedReporter({ line: () => undefined, phase: resolve })
    for (let line = 1; line <= 50; line += 1) reporter.line('agent', String(line))
    reporter.phase('evaluating')
    expect(await promise).toBe('evaluating')
  })

  it('says nothing once it is closed', () => {
    const report = heard()
    const reporter = new LimitedReporter(report)
    reporter.close()
    reporter.line('agent', 'late')
    reporter.phase('proposing')
    expect(report.said).toEqual([])
  })
})
