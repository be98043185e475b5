/** A harness that learns to say a word: its agent is a program that answers by its rules, so that a step takes no longer than it must. */
import { join } from 'node:path'
import type { Settings } from './settings.ts'

const FIXTURES = join(import.meta.dirname, '..', 'fixtures', 'evolution')

export const WORD_PROPOSER = join(FIXTURES, 'word-proposer.ts')

export const wordHarness = (directory: string, adapter = 'parrot-adapter.ts'): Settings => ({
  recipe: 'harness',
  'inference.runtime': 'practice',
  'data.training_mode': 'hybrid',
  'evolution.adapter': join(FIXTURES, adapter),
  'evolution.binary': process.execPath,
  'evolution.executor': 'local',
  'evolution.tasks': JSON.stringify([{ name: 'word', prompt: 'Say the word that your rules tell you.', answer: 'magic' }]),
  'evolution.selection': 'score_comparison',
  'evolution.proposer': WORD_PROPOSER,
  'evolution.proposals_dir': join(directory, 'proposals'),
  'evolution.step_record_dir': join(directory, 'steps'),
})
