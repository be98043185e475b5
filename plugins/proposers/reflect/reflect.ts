/** One proposal: play the current tree, draft an edit, try it, remember the scores, and offer the best. */
import { z } from 'zod'
import { invalid, type Brief, type Proposal, type Task, type Trial, type Mutation, type JsonObject } from '../../../src/contract/index.ts'
import { editId, gainOf, openArchive, scoreOn, withCandidate, withScore, memoryOf } from './archive.ts'
import type { ReflectArchive, EditCandidate } from './archive.ts'
import { ask } from './prompt.ts'
import { chooseTasks, WON } from './coreset.ts'
import { meanOf, tryDraft, Trials, type EditDraft, type TaskRun, type Search } from './draft.ts'

/** The share of episodes that the current tree may use. */
const PROBES_OF_TRIALS = 1 / 3
/** How often a failing task is replayed to get an episode: a cached one may have only a score. */
const ROLLS_MAX = 3
/** The share of episodes reserved for edits. */
const KEPT_OF_TRIALS = 1 / 2

export async function reflect(brief: Brief, { trialsMax, candidatesMax }: ReflectSettings): Promise<Proposal | null> {
  brief.signal.throwIfAborted()
  const trials = new Trials(brief, trialsMax)
  const archive = openArchive(brief)
  const tasks = chooseTasks(brief, archive, Math.ceil(trialsMax * PROBES_OF_TRIALS))
  let search = await playCurrent(tasks, archive, trials, trialsMax * KEPT_OF_TRIALS)
  while (search.tried.length < candidatesMax && (search.tried.length === 0 || canCompare(search, trials))) {
    const draft = await nextDraft(brief, search, trials)
    if (draft === null) break
    search = await withTried(brief, search, draft, trials)
    if (isEnough(brief, search)) break
  }
  return proposalOf(brief, search)
}

/** Failing tasks show what to learn, passing ones what a change may break. Tasks without a score are left out. */
async function playCurrent(tasks: readonly Task[], archive: ReflectArchive, trials: Trials, keep: number): Promise<Search> {
  const runs: TaskRun[] = []
  for (const task of tasks) {
    const run = await rollCurrent(task, trials, keep)
    if (run !== null) runs.push(run)
  }
  const known = runs.reduce((past, run) => withScore(past, run.task.name, meanOf(run)), archive)
  return { archive: known, current: runs, tried: [] }
}

async function rollCurrent(task: Task, trials: Trials, keep: number): Promise<TaskRun | null> {
  const rolls: number[] = []
  let last: Trial | null = null
  while (rolls.length < ROLLS_MAX) {
    const trial = await trials.play([], task)
    if (trial === null || trial.score === null) break
    rolls.push(trial.score)
    last = trial
    if (trial.episode !== null || trial.score >= WON || trials.left <= keep) break
  }
  return last && { task, rolls, failure: last.failure, episode: last.episode, edit: null }
}

/** Further edits are useful only where they can be compared. */
const canCompare = ({ current }: Search, trials: Trials): boolean => current.length > 0 && trials.left > 0

/** Candidates of earlier steps come first: they cost no model call. */
async function nextDraft(brief: Brief, search: Search, trials: Trials): Promise<EditDraft | null> {
  const old = brief.request === null && canCompare(search, trials) ? oldDraft(brief, search) : null
  if (old !== null) return old
  const model = brief.models['served']
  if (model === undefined || !hasEvidence(brief, search)) return null
  const { archive, current, tried } = search
  const lost = current.filter((run) => meanOf(run) < WON).map(({ task }) => task.name)
  const candidates = archive.candidates.filter((candidate) => isSettled(candidate, archive, lost))
  try {
    return await ask(brief, model, archive, { current, tried: tried.flatMap(({ runs }) => runs), candidates })
  } catch (error) {
    brief.signal.throwIfAborted()
    // A failed model call fails the step, which is retried, unless there is already something to offer.
    if (bestOf(brief, search) === null && tried.length === 0) throw error
    return null
  }
}

/** Whether its result on these tasks is known. A candidate tried on other tasks only may still help. */
const isSettled = (candidate: EditCandidate, { base, round }: ReflectArchive, lost: readonly string[]): boolean =>
  candidate.base === base &&
  (candidate.outcome !== 'shelved' ||
    candidate.round === round ||
    gainOf(candidate) < 0 ||
    lost.every((task) => scoreOn(candidate, task) !== undefined))

const hasEvidence = ({ request, samples }: Brief, { current }: Search): boolean =>
  request !== null || samples.length > 0 || current.some((run) => meanOf(run) < WON)

function oldDraft(brief: Brief, { archive, tried }: Search): EditDraft | null {
  const refused = new Set(brief.rejected.map(({ mutations }) => editId(mutations)))
  if (tried.length > 0) return mergeIn(archive, (mutations) => !refused.has(editId(mutations)) && brief.check(mutations) === null)
  const [best] = archive.candidates
    .filter(({ base, outcome }) => base !== archive.base && outcome === 'shelved')
    .toSorted((a, b) => gainOf(b) - gainOf(a))
  return best ?? null
}

async function withTried(brief: Brief, search: Search, draft: EditDraft, trials: Trials): Promise<Search> {
  const one = await tryDraft(draft, search, trials, brief.request === null ? 'improve' : 'keep')
  brief.report.line('proposer', `tried an edit on ${one.candidate.scores.length} tasks: ${gainOf(one.candidate)} in sum`)
  // A person's request stays out of the archive.
  const archive = brief.request === null ? withCandidate(search.archive, one.candidate) : search.archive
  return { ...search, archive, tried: [...search.tried, one] }
}

/** Every task passes, or, for a request, nothing got worse. */
function isEnough({ request }: Brief, { tried, current }: Search): boolean {
  const candidate = tried.at(-1)?.candidate
  if (candidate === undefined || gainOf(candidate) < 0) return false
  return request !== null || current.every(({ task }) => (scoreOn(candidate, task.name) ?? WON) >= WON)
}

/**
 * Merges two candidates that help with different tasks, without a model call. The most promising untried pair that the tree admits, or
 * null.
 */
function mergeIn(archive: ReflectArchive, isOpen: (mutations: readonly Mutation[]) => boolean): EditDraft | null {
  const parents = archive.candidates.filter(
    ({ base, outcome }) => base === archive.base && (outcome === 'shelved' || outcome === 'rejected'),
  )
  const known = new Set(archive.candidates.map(({ id }) => id))
  const best = parents
    .flatMap((one, index) => parents.slice(index + 1).map((other) => ({ one, other })))
    .filter(({ one, other }) => isComplementary(one, other))
    .toSorted((a, b) => promiseOf(b.one, b.other) - promiseOf(a.one, a.other))
    .map(({ one, other }) => merged(one, other))
    .find(({ mutations }) => !known.has(editId(mutations)) && isOpen(mutations))
  return best ?? null
}

/** Each improves a task that the other does not, and they touch different entries. */
function isComplementary(one: EditCandidate, other: EditCandidate): boolean {
  const ids = new Set(one.mutations.map(({ id }) => id))
  return other.mutations.every(({ id }) => !ids.has(id)) && isBetterSomewhere(one, other) && isBetterSomewhere(other, one)
}

const isBetterSomewhere = (one: EditCandidate, other: EditCandidate): boolean =>
  one.scores.some(({ task, score, current }) => score > current && score > (scoreOn(other, task) ?? current))

/** The gain if each task goes as well as with the better of the two. */
function promiseOf(one: EditCandidate, other: EditCandidate): number {
  const best = new Map<string, number>()
  for (const { task, score, current } of [...one.scores, ...other.scores])
    best.set(task, Math.max(best.get(task) ?? -Infinity, score - current))
  return [...best.values()].reduce((sum, gain) => sum + gain, 0)
}

const merged = (one: EditCandidate, other: EditCandidate): EditDraft => ({
  mutations: [...one.mutations, ...other.mutations],
  design: [one.design, other.design].filter((design) => design !== '').join('\n\n'),
  reflection: 'Two earlier edits, each of which did better on different tasks.',
  requires: [...one.requires, ...other.requires],
  parents: [one.id, other.id],
})

/** `reflect` in the recipe's `evolution` section. */
interface ReflectSettings {
  /** Episodes that one step may play before it proposes. */
  readonly trialsMax: number
  /** Edits that one step may try. */
  readonly candidatesMax: number
}

const section = z
  .strictObject({
    trials_max: z.int().min(0).default(12),
    candidates_max: z.int().min(1).default(3),
  })
  .prefault({})

export function readSettings(config: JsonObject): ReflectSettings {
  const { data } = section.safeParse(config['reflect'] ?? {})
  if (data === undefined)
    throw invalid('bad_setting', 'evolution.reflect must be {trials_max, candidates_max}: whole numbers, candidates_max 1 or more')
  return { trialsMax: data.trials_max, candidatesMax: data.candidates_max }
}

/** Tolerance for rounding. */
const GAIN_MIN = 1e-9

/** The candidate with the largest gain, the shortest of equals. */
function bestOf(brief: Brief, search: Search): EditCandidate | null {
  const fresh = search.tried.map(({ candidate }) => candidate)
  const { base, candidates } = search.archive
  const old = candidates.filter((each) => each.base === base && each.outcome === 'shelved' && !fresh.some(({ id }) => id === each.id))
  const pool = [
    ...fresh.filter((candidate) => isOffered(brief, search, candidate)),
    ...(brief.request === null ? old.filter((candidate) => gainOf(candidate) > GAIN_MIN) : []),
  ]
  return pool.toSorted((a, b) => gainOf(b) - gainOf(a) || sizeOf(a) - sizeOf(b)).at(0) ?? null
}

/** A candidate must gain where a task could be improved; otherwise it must not lose. */
function isOffered({ request }: Brief, { current }: Search, candidate: EditCandidate): boolean {
  const gain = gainOf(candidate)
  if (gain > GAIN_MIN || gain < -GAIN_MIN) return gain > 0
  return request !== null || candidate.scores.length === 0 || current.every((run) => meanOf(run) >= WON)
}

const sizeOf = ({ mutations }: EditCandidate): number => JSON.stringify(mutations).length

/** Without a candidate the proposal holds only notes and memory; null when there is nothing to remember. */
function proposalOf(brief: Brief, search: Search): Proposal | null {
  const best = bestOf(brief, search)
  if (best === null) {
    if (brief.request === null && search.current.length === 0) return null
    return { mutations: [], notes: { failure: failureOf(brief, search), ...countsOf(search) }, memory: memoryOf(search.archive) }
  }
  const archive = brief.request === null ? withCandidate(search.archive, { ...best, outcome: 'unknown' }) : search.archive
  return {
    mutations: best.mutations,
    ...(best.requires.length > 0 && { requires: best.requires }),
    notes: notesOf(best, search),
    memory: memoryOf(archive),
  }
}

function failureOf({ request }: Brief, { tried }: Search): string {
  if (tried.length === 0) return 'there was no edit that could be tried'
  return request === null ? 'no edit did better on the train tasks than the harness as it is' : 'every edit made the train tasks go worse'
}

const notesOf = ({ design, reflection, parents, scores }: EditCandidate, search: Search): JsonObject => ({
  design,
  reflection,
  parents,
  train_scores: scores.map((score) => ({ ...score })),
  ...countsOf(search),
})

const countsOf = ({ tried, archive }: Search): JsonObject => ({ tried: tried.length, kept: archive.candidates.length })
