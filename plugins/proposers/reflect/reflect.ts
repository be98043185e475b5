/** One proposal: play the current tree, draft an edit, try it, remember how it did, and offer the best. */
import type { Brief, Proposal, Task, Trial } from '../../../src/contract/index.ts'
import { editId, gainOf, openArchive, scoreOn, withCandidate, withScore, type Archive, type Candidate } from './archive.ts'
import { ask } from './ask.ts'
import { chooseTasks, WON } from './coreset.ts'
import { meanOf, tryDraft, type Draft, type Run, type Search } from './draft.ts'
import { mergeIn } from './merge.ts'
import { bestOf, proposalOf } from './offer.ts'
import type { Settings } from './settings.ts'
import { Trials } from './trials.ts'

/** The part of the episodes that is spent on how the current tree does. */
const PROBES_OF_TRIALS = 1 / 3
/** How often a lost task is played for an episode to look at: of one that is known from earlier only the score may be left. */
const ROLLS_MAX = 3
/** The part of the episodes that is left for edits, however much there would be to look at. */
const KEPT_OF_TRIALS = 1 / 2

export async function reflect(brief: Brief, { trialsMax, candidatesMax }: Settings): Promise<Proposal | null> {
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

/** Every lost task is one to learn from, every won one shows what a change would break; one without a score shows nothing. */
async function playCurrent(tasks: readonly Task[], archive: Archive, trials: Trials, keep: number): Promise<Search> {
  const runs: Run[] = []
  for (const task of tasks) {
    const run = await rollCurrent(task, trials, keep)
    if (run !== null) runs.push(run)
  }
  const known = runs.reduce((past, run) => withScore(past, run.task.name, meanOf(run)), archive)
  return { archive: known, current: runs, tried: [] }
}

async function rollCurrent(task: Task, trials: Trials, keep: number): Promise<Run | null> {
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

/** Further edits are only worth having where they can be told apart. */
const canCompare = ({ current }: Search, trials: Trials): boolean => current.length > 0 && trials.left > 0

/** What earlier steps left comes first: it costs no call, and was better than its tree once. */
async function nextDraft(brief: Brief, search: Search, trials: Trials): Promise<Draft | null> {
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
    // A model that is down is the step's failure: its evidence is then taken up again later. Once there is something to offer, that is offered.
    if (bestOf(brief, search) === null && tried.length === 0) throw error
    return null
  }
}

/** Nothing more can be learnt of it here. One that was tried on other tasks alone may be what these need. */
const isSettled = (candidate: Candidate, { base, round }: Archive, lost: readonly string[]): boolean =>
  candidate.base === base &&
  (candidate.outcome !== 'shelved' ||
    candidate.round === round ||
    gainOf(candidate) < 0 ||
    lost.every((task) => scoreOn(candidate, task) !== undefined))

const hasEvidence = ({ request, samples }: Brief, { current }: Search): boolean =>
  request !== null || samples.length > 0 || current.some((run) => meanOf(run) < WON)

function oldDraft(brief: Brief, { archive, tried }: Search): Draft | null {
  const refused = new Set(brief.rejected.map(({ mutations }) => editId(mutations)))
  if (tried.length > 0) return mergeIn(archive, (mutations) => !refused.has(editId(mutations)) && brief.check(mutations) === null)
  const [best] = archive.candidates
    .filter(({ base, outcome }) => base !== archive.base && outcome === 'shelved')
    .toSorted((a, b) => gainOf(b) - gainOf(a))
  return best ?? null
}

async function withTried(brief: Brief, search: Search, draft: Draft, trials: Trials): Promise<Search> {
  const one = await tryDraft(draft, search, trials, brief.request === null ? 'improve' : 'keep')
  brief.report.line('proposer', `tried an edit on ${one.candidate.scores.length} tasks: ${gainOf(one.candidate)} in sum`)
  // What one person asked for is no idea for everybody, and stays out of the archive.
  const archive = brief.request === null ? withCandidate(search.archive, one.candidate) : search.archive
  return { ...search, archive, tried: [...search.tried, one] }
}

/** Nothing is lost any more that could be played, or for a request: nothing got worse. */
function isEnough({ request }: Brief, { tried, current }: Search): boolean {
  const candidate = tried.at(-1)?.candidate
  if (candidate === undefined || gainOf(candidate) < 0) return false
  return request !== null || current.every(({ task }) => (scoreOn(candidate, task.name) ?? WON) >= WON)
}
