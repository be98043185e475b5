/** Has a candidate judged, once: what was decided is in the marker before anybody acts on it. */
import { join } from 'node:path'
import { type Candidate, type Examination, type Examiner, type TrainerScope, type WeightRuntime } from '../../contract/index.ts'
import { exportPath } from './exports.ts'
import type { Marker, MarkerFile } from './marker.ts'

export interface Bench {
  readonly scope: Pick<TrainerScope, 'scenario' | 'directory'>
  readonly weights: WeightRuntime
  readonly examiner: Examiner
  readonly marker: MarkerFile
}

export type Judged = Marker & { readonly examination: Examination }

export async function examineJob(done: Marker, bench: Bench, signal: AbortSignal): Promise<Judged> {
  if (done.examination !== undefined) return { ...done, examination: done.examination }
  const { select, metrics = {} } = await bench.examiner.examine(candidateOf(done, bench, signal), signal)
  signal.throwIfAborted()
  if (typeof select !== 'boolean') throw new Error('the examiner answered without a decision: select must be true or false')
  const judged = { ...done, status: select ? 'EXAMINED' : 'REJECTED', examination: { select, metrics } } as const
  await bench.marker.write(judged)
  return judged
}

function candidateOf({ job, trained }: Marker, { scope, weights }: Bench, signal: AbortSignal): Candidate {
  const directory = join(scope.directory, exportPath(job))
  return {
    scenario: scope.scenario,
    job,
    metrics: { ...trained?.metrics },
    try: (work) => weights.trial({ name: job, directory }, work, signal),
    current: (work) => work({ chat: (body) => weights.ask(scope.scenario, body, signal) }),
  }
}
