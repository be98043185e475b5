/** What a round reports: the prompt, the answer, and what the tests said. */
import { expect, it } from 'vitest'
import type { KeptPlay } from './plays.ts'
import { planRound, tellingLines } from './rounds.ts'

const PLAY: KeptPlay = {
  task: 'one',
  role: 'train',
  score: 0,
  failure: null,
  seconds: 1,
  model_calls: 1,
  input_tokens: 1,
  cached_tokens: 0,
  output_tokens: 1,
  cost: null,
  answer: 'Done.',
  note: 'the verifier: exit code 2',
  printed: 'ok 1\nwanted 3, and it said: 4\n',
}

it('reports what the tests printed, of a run of an earlier version the verdict alone', () => {
  const { printed: _, ...older } = PLAY
  const reports = planRound(
    1,
    [
      { prompt: 'Add.', play: PLAY },
      { prompt: 'Add.', play: older },
    ],
    14,
  ).reports
  const verdict = 'The result was scored 0 of 1. the verifier: exit code 2'
  expect(reports.map(({ feedback }) => feedback)).toEqual([`${verdict} The tests printed:\nwanted 3, and it said: 4`, verdict])
  expect(reports[0]).toMatchObject({ id: 'improve-1-one', prompt: 'Add.', answer: 'Done.', score: 0 })
})

it('takes the lines that say what is wrong, each once, and the last ones where none does', () => {
  expect(tellingLines('TAP\n  AssertionError: no\nfine\n  AssertionError: no\n1 failed\n')).toBe('AssertionError: no\n1 failed')
  expect(tellingLines('a\n\nb\n')).toBe('a\nb')
  expect(tellingLines('')).toBe('')
  expect(tellingLines('error\n'.repeat(9) + 'x'.repeat(5000)).length).toBe(5)
  expect(tellingLines('x'.repeat(5000)).length).toBe(700)
})
