/**
 * What the gate has already been asked: a case is a rendered tree against the served one, on the same tasks and model. A closed case is not
 * decided again. An open one, for which the budget was too small, goes on with its own pairs at its own level.
 */
import type { Entry, Json, Pair, Question, Task } from '../contract/index.ts'
import { renderTree } from '../harness/index.ts'
import { cacheKey } from './cache.ts'
import type { PriorPair } from './evaluate.ts'
import { joined, joinedAs } from './families/join.ts'
import { objectiveJson, weighs } from './objective.ts'
import { othersIn, type GateCase, type KeptPair, type OpenCase, type StepRun } from './run.ts'

/** What a decision is asked with: those of an open case are its own. */
export interface Standing extends Pick<Question, 'seed' | 'history'> {
  readonly pairs: readonly PriorPair[]
  /** Null where none are kept. */
  readonly families: OpenCase['families'] | null
}

/** Where the candidate stands: null for a closed case. */
export function standingOf(run: StepRun, gate: readonly Task[], entries: readonly Entry[]): Standing | null {
  const { state, order, context } = run
  const known = order.batch.request === null ? find(run, gate, entries) : undefined
  if (known !== undefined && known.open === undefined) return null
  const { decided, selected, seed, pairs, families } = known?.open ?? {
    decided: state.decided,
    selected: state.selected,
    seed: `${context.scenario}:${order.step}:${order.batch.id}`,
    pairs: [],
  }
  return { seed, history: { decided, selected }, pairs: pairs.flatMap((pair) => priorPair(gate, pair)), families: families ?? null }
}

interface Joining {
  /** The candidate's. */
  readonly tree?: string
  /** Those of the case's first decision. */
  readonly families?: Standing['families']
}

/** Where any may be alike, none are joined: each counts as a part of a family, which holds whatever the families are. */
export function gateTasks({ context: { settings }, state }: StepRun, gate: readonly Task[], { tree, families }: Joining): readonly Task[] {
  if (families != null) return joinedAs(gate, families)
  return settings.tasks_alike > 1 ? gate : joined(gate, state.moves, tree)
}

/** Whether the candidate goes on with a case, which was counted when it was first decided. */
export const isResumed = (run: StepRun, gate: readonly Task[], entries: readonly Entry[]): boolean =>
  find(run, gate, entries)?.open !== undefined

const CASES_MAX = 512
/** Every row holds them. */
const OPEN_BYTES_MAX = 128 * 1024

/** The cases without this one. */
export function casesBeside(run: StepRun, gate: readonly Task[], entries: readonly Entry[]): readonly GateCase[] {
  const { tree, against } = nameOf(run, gate, entries)
  return run.state.cases.filter((one) => one.tree !== tree || one.against !== against)
}

/** The cases after it was rejected; `open` is null where it is closed. */
export function casesWith(run: StepRun, gate: readonly Task[], entries: readonly Entry[], open: OpenCase | null): readonly GateCase[] {
  return bounded([...casesBeside(run, gate, entries), { ...nameOf(run, gate, entries), ...(open !== null && { open }) }])
}

/** An open case whose pairs have no room is forgotten as a whole: it would begin anew. */
function bounded(cases: readonly GateCase[]): readonly GateCase[] {
  let room = OPEN_BYTES_MAX
  const fits = ({ open }: GateCase): boolean => {
    if (open !== undefined) room -= Buffer.byteLength(JSON.stringify(open))
    return open === undefined || room >= 0
  }
  return cases.slice(-CASES_MAX).toReversed().filter(fits).toReversed()
}

export function openCase({ history, seed }: Standing, pairs: readonly PriorPair[], families: Readonly<Record<string, string>>): OpenCase {
  const { decided, selected } = history
  return { decided, selected, seed, pairs: pairs.map(keptPair), families }
}

function keptPair({ pair: { task, repeat, candidate, current, weight, gain }, isStale }: PriorPair): KeptPair {
  const kept = [task.name, repeat, candidate, current, weight ?? null, isStale] as const
  return gain === undefined ? kept : [...kept, gain]
}

function priorPair(gate: readonly Task[], [name, repeat, candidate, current, weight, isStale, gain]: KeptPair): readonly PriorPair[] {
  const task = gate.find((one) => one.name === name)
  if (task === undefined) return []
  const pair: Pair = { task, repeat, candidate, current, ...(weight !== null && { weight }), ...(gain !== undefined && { gain }) }
  return [{ pair, isStale }]
}

function find(run: StepRun, gate: readonly Task[], entries: readonly Entry[]): GateCase | undefined {
  const { tree, against } = nameOf(run, gate, entries)
  return run.state.cases.find((one) => one.tree === tree && one.against === against)
}

/** Names of entries and their order count only where the agent would see them. */
function nameOf(run: StepRun, gate: readonly Task[], entries: readonly Entry[]): GateCase {
  const { entries: served, order, context } = run
  const { adapter, component, settings } = context
  const { evaluator, evaluator_module } = settings
  const tasks = gate.map(({ name, prompt, role, family = '', files = {}, data = {} }) => ({ name, prompt, role, family, files, data }))
  const against: Json[] = [
    renderTree(adapter, served),
    othersIn(order.base, component),
    order.model.model,
    evaluator,
    evaluator_module,
    tasks,
  ]
  // Another objective is another question.
  if (weighs(settings.objective)) against.push(objectiveJson(settings.objective))
  return { tree: treeOf(run, entries), against: shortKey(against) }
}

/** The candidate, by what the agent would see of it. */
export const treeOf = ({ context }: StepRun, entries: readonly Entry[]): string => shortKey([renderTree(context.adapter, entries)])

const KEY_DIGITS = 24
const shortKey = (parts: Parameters<typeof cacheKey>[0]): string => cacheKey(parts).slice(0, KEY_DIGITS)
