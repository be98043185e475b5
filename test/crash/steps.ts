/** The steps of a scenario, as its clients read them, and what holds for them in every scenario. */
import type { Json, JsonObject } from '../../src/contract/index.ts'
import { get, listIn, pages, textIn, textsIn } from './http.ts'
import { violation, type Violation } from './oracle.ts'

const PAGE_ROWS = 100

/** One step, as the commits and the releases route show it together. */
export interface StepRow {
  readonly step: number
  readonly operation: string
  readonly result: string
  /** What it published or holds; null when it did neither. */
  readonly release: string | null
  readonly consumed: readonly string[]
  /** Both rows as they were printed, without what may change later. */
  readonly printed: string
}

/** The creation has no row among the commits. */
export interface ReadStep {
  readonly release: JsonObject
  readonly commit: JsonObject | undefined
}

/** Oldest first. */
export async function readSteps(address: string, base: string): Promise<readonly ReadStep[]> {
  const commits = await pages(address, `${base}/commits?limit=${PAGE_ROWS}&after_step=`, 'commits', 'next_after_step')
  const releases = listIn(await get(address, `${base}/releases`), 'releases').toReversed()
  // The catalog was read later: what landed in between is left for the next reading.
  return releases.slice(0, commits.length + 1).map((release, step) => ({ release, commit: commits[step - 1] }))
}

export const readRecords = (address: string, base: string, after = 0): Promise<readonly JsonObject[]> =>
  pages(address, `${base}/records?limit=${PAGE_ROWS}&after_sequence=`, 'records', 'next_after_sequence', after)

/** What is current changes with every publish; nothing else may. */
export function stepRowOf({ release: { current: _current, ...release }, commit }: ReadStep): StepRow {
  const own: Json | undefined = commit === undefined ? textIn(release, 'release_id') : commit['artifact_ref']
  return {
    step: Number(release['step']),
    operation: textIn(release, 'operation'),
    result: textIn(release, 'result'),
    release: typeof own === 'string' ? own : null,
    consumed: commit === undefined ? [] : textsIn(commit, 'consumed_ids'),
    printed: JSON.stringify([commit ?? null, release]),
  }
}

/** Steps follow each other from the creation on, and a row that was read once is never another. */
export function judgeSteps(name: string, rows: readonly StepRow[], earlier: readonly StepRow[]): readonly Violation[] {
  const gaps = rows.filter(({ step }, index) => step !== index)
  const changed = earlier.filter(({ printed }, index) => rows[index]?.printed !== printed)
  return [
    ...gaps.slice(0, 1).map(({ step }) => violation('gap', `${name}: step ${step} stands where another should`)),
    ...(rows[0]?.operation === 'create' ? [] : [violation('gap', `${name} does not begin with its creation`)]),
    ...changed.map(({ step, printed }) => violation('row changed', `${name}: ${printed} is now ${rows[step]?.printed}`)),
  ]
}

export function judgeHead(name: string, rows: readonly StepRow[], head: string): readonly Violation[] {
  const newest = rows.findLast(({ result }) => result === 'published')
  return head === newest?.release ? [] : [violation('head', `${name} serves ${head}, and its newest published row is ${newest?.printed}`)]
}
