/** The table of what starts a step, in full. */
import { expect, it } from 'vitest'
import type { StoredSample, TrainingMode } from '../contract/index.ts'
import { takeNext, type Instruction, type Waiting } from './modes.ts'

const sample: StoredSample = { record_ids: ['x', 'r'], exchanges: [], score: null, feedback: null }
const instruction: Instruction = { request: { id: 'i', text: 't', session: '', release_id: '', requires: [] }, problem: null }

const none: Waiting = { instruction: null, units: { samples: [], ready: false } }
const some = { samples: [sample], ready: false }
const full = { samples: [sample], ready: true }

const nothing = null
const batch = { instruction: null, samples: [sample] }
const alone = { instruction, samples: [] }
const together = { instruction, samples: [sample] }

const TABLE: readonly (readonly [string, Waiting, Readonly<Record<TrainingMode, unknown>>])[] = [
  ['nothing', none, { auto: nothing, manual: nothing, hybrid: nothing }],
  ['part of a batch', { ...none, units: some }, { auto: nothing, manual: nothing, hybrid: nothing }],
  ['a full batch', { ...none, units: full }, { auto: batch, manual: nothing, hybrid: batch }],
  ['an instruction', { ...none, instruction }, { auto: nothing, manual: alone, hybrid: alone }],
  ['an instruction and part of a batch', { instruction, units: some }, { auto: nothing, manual: alone, hybrid: together }],
  ['an instruction and a full batch', { instruction, units: full }, { auto: batch, manual: alone, hybrid: together }],
]

const rows = TABLE.flatMap(([what, waiting, taken]) =>
  (['auto', 'manual', 'hybrid'] as const).map((mode) => ({ mode, what, waiting, taken: taken[mode] })),
)

it.each(rows)('in $mode, of $what, the next step takes what the table says', ({ mode, waiting, taken }) => {
  expect(takeNext(mode, waiting)).toEqual(taken)
})
