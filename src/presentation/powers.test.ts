import { describe, expect, it } from 'vitest'
import { POWERS } from '../contract/powers.ts'
import { powersOfStep } from './powers.ts'

const reason = (power: string, entry: string, why: string) => ({ power, entry, why })
const MUTATIONS = [{ op: 'remove', id: 'x' }]

describe('what a change may do', () => {
  it('is a sentence for each power, in their order, with the entries and why, and whether a person has to allow it', () => {
    const power_reasons = [reason('grants', 'set', 'it changes the setting primary.permission'), reason('runs', 'helper', 'it holds code')]
    expect(powersOfStep({ powers: ['grants', 'words', 'runs'], held_powers: ['runs'], power_reasons })).toEqual({
      title: 'What this change may do',
      tone: 'warn',
      summary: 'The operator does not allow this without a person: runs. evolution.publish_powers lists what is allowed.',
      powers: [
        {
          name: 'runs',
          sentence: 'This change may run programs on your machine.',
          isHeld: true,
          reasons: [{ entry: 'helper', why: 'it holds code' }],
          more: null,
        },
        {
          name: 'grants',
          sentence: 'This change may let the agent act without asking you.',
          isHeld: false,
          reasons: [{ entry: 'set', why: 'it changes the setting primary.permission' }],
          more: null,
        },
      ],
    })
  })

  it.each(POWERS.filter((power) => power !== 'words'))('has a sentence for %s', (power) => {
    expect(powersOfStep({ powers: [power] })?.powers[0]?.sentence).toMatch(/^This change (?:may|holds|takes) [^.]+\.$/)
  })

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['only words', { powers: ['words'], held_powers: [] }, 'Only words: it is plain text for the model.'],
    ['nothing', { powers: [] }, 'It adds nothing that could act on a machine.'],
    ['not known', { mutations: MUTATIONS }, 'What it may do on a machine is not known'],
    ['not known where the row holds something else', { mutations: MUTATIONS, powers: 'runs' }, 'What it may do on a machine is not known'],
  ])('is one calm line: %s', (_, metrics, summary) => {
    expect(powersOfStep(metrics)).toMatchObject({ tone: 'plain', summary: expect.stringContaining(summary), powers: [] })
  })

  it('is nothing of a step that changes no harness', () => {
    expect(powersOfStep({})).toBeNull()
    expect(powersOfStep({ mutations: [] })).toBeNull()
  })

  it('of an older row does not say what is allowed', () => {
    expect(powersOfStep({ powers: ['runs'] })?.summary).toContain('does not say which')
    expect(powersOfStep({ powers: ['runs'], held_powers: [] })?.summary).toContain('allows all of this')
  })

  it('names a power that is not known here, and never leaves it out', () => {
    expect(powersOfStep({ powers: ['flies'], held_powers: ['flies'] })?.powers).toMatchObject([
      { sentence: 'This change has a power of which nothing is known here: flies.', isHeld: true },
    ])
  })

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['ten thousand reasons', { powers: ['runs'], power_reasons: Array.from({ length: 10_000 }, (_, at) => reason('runs', `e${at}`, 'w')) }],
    ['ten thousand powers', { powers: Array.from({ length: 10_000 }, (_, at) => `p${at}`) }],
    ['a long name', { powers: ['runs'], power_reasons: [reason('runs', 'x'.repeat(100_000), '\ud83d\ude00'.repeat(100_000))] }],
    ['reasons that are none', { powers: ['runs', 7, null], power_reasons: [7, null, 'x', { power: 'runs' }, { power: {}, entry: [] }] }],
    ['counts that are none', { powers: ['runs'], power_reason_counts: { runs: Infinity } }],
  ])('is bounded: %s', (_, metrics) => {
    const text = JSON.stringify(powersOfStep(metrics))
    expect(text.length).toBeLessThan(4000)
    expect(text.isWellFormed()).toBe(true)
  })

  it('says how many reasons it leaves out', () => {
    const power_reasons = Array.from({ length: 8 }, (_, at) => reason('runs', `e${at}`, 'w'))
    expect(powersOfStep({ powers: ['runs'], power_reasons })?.powers[0]?.more).toBe('and 3 more')
    expect(powersOfStep({ powers: ['runs'], power_reasons, power_reason_counts: { runs: 1200 } })?.powers[0]?.more).toBe('and 1,195 more')
  })
})
