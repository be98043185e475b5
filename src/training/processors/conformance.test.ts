/** Every built-in processor passes the conformance suite, the one of reports with and without groups. */
import { describe, it } from 'vitest'
import { processorConformance } from '../../../conformance/index.ts'
import type { Processor } from '../../contract/index.ts'
import { gridProcessor, type GridOptions } from './grid.ts'
import { keepOnly } from './processor-of.ts'
import { datasetProcessor, recordsProcessor } from './records.ts'
import type { GroupOf } from './groups.ts'
import { reportedProcessor } from './reported.ts'

/** Two neighbours by score are a group, and a report without a score stands for itself. */
const inPairs: GroupOf = ({ score }) =>
  typeof score === 'number' ? { key: `pair-${Math.floor(score / 2)}`, slot: String(score % 2), size: 2 } : null

/** Four neighbours by score are a step of two groups, and a report without a score belongs nowhere. */
const inSteps: GridOptions['place'] = ({ score }) =>
  typeof score === 'number' ? { step: Math.floor(score / 4), group: Math.floor((score % 4) / 2), rollout: score % 2 } : 'has no score'

const processors: readonly (readonly [string, () => Processor])[] = [
  ['reportedProcessor', () => reportedProcessor({ name: 'reported', batchSize: 3 })],
  ['reportedProcessor in groups', () => reportedProcessor({ name: 'grouped', batchSize: 3, group: inPairs })],
  ['gridProcessor', () => gridProcessor({ name: 'grid', groupsPerStep: 2, rolloutsPerGroup: 2, place: inSteps })],
  ['recordsProcessor', () => recordsProcessor({ name: 'records', batchSize: 3 })],
  ['datasetProcessor', () => datasetProcessor({ name: 'dataset', batchSize: 3 })],
  ['keepOnly', () => keepOnly('keep')],
]

for (const [name, make] of processors) describe(name, () => processorConformance({ describe, it, make }))
