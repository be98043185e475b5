import { describe, expect, it } from 'vitest'
import { playSelection, selectionConformance } from '../../../conformance/index.ts'
import type { Question } from '../../../src/contract/index.ts'
import always from './index.ts'

describe('always', () => {
  selectionConformance({ describe, it, selection: always.plugin, compares: false })

  it('selects a candidate that is worse, as long as one of its episodes was scored', () => {
    const tasks = ['sum', 'sort'].map((name) => ({ name, prompt: name, role: 'gate' as const }))
    const history = { decided: 0, selected: 0 }
    const question: Question = { kind: 'traffic', tasks, pairs: [], repeats: 1, episodesLeft: null, seed: '', history }
    const { decision } = playSelection(always.plugin, question, ({ name }, side) => (side === 'current' ? 1 : name === 'sum' ? 0 : null))
    expect(decision).toEqual({ selected: true, reason: 'it ran: 1 of 2 episodes of the candidate were scored, and no score is compared' })
  })
})
