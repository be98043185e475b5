import { expect, it } from 'vitest'
import { notesOf } from './notes.ts'

it('reads the review and what a machine must have', () => {
  const metrics = {
    proposal_notes: { review: { result: 'partial', covered: ['the tone', 7], uncovered: ['the length'] } },
    training_request: {
      requires: [{ kind: 'env', name: 'DEEPL_KEY', prompt: 'a key for translations' }],
      refused_requires: [{ item: { kind: 'service', name: 'x' }, reason: 'holds a credential' }],
    },
  }
  expect(notesOf(metrics)).toEqual({
    review: 'partial',
    covered: ['the tone'],
    uncovered: ['the length'],
    requires: ['env DEEPL_KEY a key for translations'],
    refused: ['service x: holds a credential'],
  })
})

it.each([{}, { proposal_notes: 'text', training_request: [] }, { proposal_notes: { review: 7 } }])('finds nothing in %j', (metrics) => {
  expect(notesOf(metrics)).toEqual({ review: null, covered: [], uncovered: [], requires: [], refused: [] })
})
