/** A run from the tree of a repository to a better one, stage by stage. Each stage keeps its result, and a second run goes on after the last. */
import { hash } from 'node:crypto'
import { canonicalJson, invalid, isObject, type Adapter, type Entry, type Files, type ModelAddress, type Task } from '../contract/index.ts'
import type { Player } from '../evolution/index.ts'
import { renderTree } from '../harness/index.ts'
import { estimateRest, takenAltogether } from './estimate.ts'
import type { Estimate, ImproveEvent, ImproveResult, TaskComparison } from './events.ts'
import { entriesOf } from './harness-files.ts'
import { playAll, playsOf, type KeptPlay, type PlayParts } from './plays.ts'
import { planName, planRound, readEnd, readPlan, runRound, type RoundEnd, type RoundPlan } from './rounds.ts'
import { createScenario, evaluationPath, type ServiceAddress } from './service.ts'
import type { ImproveState } from './state.ts'

/** A service of this run's own. */
export interface OpenedService extends Omit<ServiceAddress, 'signal'> {
  readonly model: Pick<ModelAddress, 'model' | 'api'>
  /** How many episodes its steps have played so far. */
  played(): Promise<number>
  close(): Promise<void>
}

/** What one step takes and may play. */
export interface RoundLimits {
  readonly reports: number
  readonly episodesMax: number
}

export interface ImproveOrder {
  readonly state: ImproveState
  readonly adapter: Adapter
  readonly entries: readonly Entry[]
  readonly player: Player
  /** How many episodes the whole run may play. */
  readonly budget: number
  readonly workers: number
  readonly signal: AbortSignal
  /** With what one step takes and may play; null: no step runs. */
  readonly open: (step: RoundLimits | null) => Promise<OpenedService>
  readonly emit: (event: ImproveEvent) => void
  /** Asked once, before anything but the baseline is played. */
  readonly agree: (cost: Estimate) => Promise<boolean>
}

/** With every play so far, also of earlier runs, by its name. */
type ImproveRun = ImproveOrder & Pick<PlayParts, 'taken'>

export type ImproveEnd = { readonly kind: 'declined' } | { readonly kind: 'ended'; readonly result: ImproveResult; readonly files: Files }

/** A task below this has failed. */
const PASSED = 1
const ROUNDS_MAX = 8
/** So many rounds in a row without a better tree end the run. */
const IDLE_ROUNDS_MAX = 3
/** What a first decision takes at the least. */
const STEP_EPISODES_LEAST = 14

export async function improve(given: ImproveOrder): Promise<ImproveEnd> {
  const order: ImproveRun = { ...given, taken: new Map() }
  const { player, state, emit } = order
  checkTasks(player)
  const start = renderTree(order.adapter, order.entries)
  const open = openTasks(player.tasks)
  const left = order.budget - open.length - lastEpisodes(player.tasks)
  if (left < STEP_EPISODES_LEAST)
    throw invalid(
      'budget_too_small',
      `--budget leaves ${Math.max(0, left)} episodes for changes beside the baseline; make it ${order.budget - left + STEP_EPISODES_LEAST} or more`,
    )
  const before = await playStage(order, 'before', open, order.entries)
  refuseUnscored(before)
  if (!(await agreed(order, before, left))) return { kind: 'declined' }
  const rounds = await learn(order, before, left)
  const files = rounds.at(-1)?.files ?? start
  const isBetter = rounds.some(({ result }) => result === 'published')
  const compared = isBetter ? await compare(order, before, files) : before.map(same)
  const result = resultOf({ improved: isBetter, rounds, compared, taken: [...order.taken.values()] })
  await state.write('result', { result, files })
  emit({ event: 'result', ...result })
  return { kind: 'ended', result, files }
}

/** A run that has ended; null where it has not. */
export async function readResult(state: ImproveState): Promise<{ readonly result: ImproveResult; readonly files: Files } | null> {
  const kept = await state.read('result')
  return isKept(kept) ? kept : null
}

const isKept = (value: unknown): value is { readonly result: ImproveResult; readonly files: Files } =>
  typeof value === 'object' && value !== null && 'result' in value && 'files' in value

const openTasks = (tasks: readonly Task[]): readonly Task[] => tasks.filter(({ role }) => role !== 'sealed')
const sealedTasks = (tasks: readonly Task[]): readonly Task[] => tasks.filter(({ role }) => role === 'sealed')
/** At the end every task is played with the better tree, and sealed ones with both. */
const lastEpisodes = (tasks: readonly Task[]): number => tasks.length + sealedTasks(tasks).length

function checkTasks(player: Player): void {
  const { tasks } = player
  const [train, gate] = (['train', 'gate'] as const).map((role) => tasks.filter((task) => task.role === role).length)
  if (train === 0 || gate === 0)
    throw invalid(
      'no_tasks',
      `of ${tasks.length} tasks ${train} have the role train and ${gate} the role gate; failures of the first are learnt from, the second decide, so there must be some of both; ${MORE_TASKS}`,
    )
  const few = player.shortage(1)
  if (few !== null) throw invalid('too_few_tasks', `no change could be published: ${few.reason}; ${MORE_TASKS}, of other test files`)
}

const MORE_TASKS = 'begin with --fresh and --tasks-dir FOLDER, or with --tasks N for more of them'

/** The service answers the model calls of the episodes. */
async function playStage(order: ImproveRun, side: 'before' | 'after', tasks: readonly Task[], entries: readonly Entry[]) {
  if (tasks.length === 0) return []
  const service = await order.open(null)
  try {
    await createScenario({ ...service, signal: order.signal })
    const model = { ...service.model, url: `${service.url}${evaluationPath}`, apiKey: service.token ?? '' }
    const name = playsOf(side, digestOf(order.adapter, entries))
    return await playAll({ ...order, model }, name, side, tasks, entries)
  } finally {
    await service.close()
  }
}

const digestOf = (adapter: Adapter, entries: readonly Entry[]): string => hash('sha256', canonicalJson({ ...renderTree(adapter, entries) }))

function refuseUnscored(plays: readonly KeptPlay[]): void {
  if (plays.some(({ score }) => score !== null)) return
  throw invalid('no_scores', `no episode of the baseline has a score; the first: ${plays[0]?.failure ?? 'no episode was played'}`)
}

/** Answered once for a run: one that goes on asks again only for a larger budget. */
async function agreed(order: ImproveRun, before: readonly KeptPlay[], left: number): Promise<boolean> {
  if (budgetIn(await order.state.read('agreed')) >= order.budget) return true
  const cost = estimateRest(before, left + lastEpisodes(order.player.tasks), order.workers)
  order.emit({ event: 'estimate', budget: order.budget, used: before.length, ...cost, shortage: order.player.shortage(ROUNDS_MAX) })
  if (!(await order.agree(cost))) return false
  await order.state.write('agreed', { budget: order.budget })
  return true
}

const budgetIn = (kept: unknown): number => (isObject(kept) && typeof kept['budget'] === 'number' ? kept['budget'] : 0)

async function learn(order: ImproveRun, before: readonly KeptPlay[], budget: number): Promise<readonly RoundEnd[]> {
  const ends: RoundEnd[] = []
  const learntFrom = order.player.tasks.filter(({ role }) => role === 'train')
  let plays = before
  let replays = 0
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const kept = await readEnd(order.state, round)
    const left = budget - replays - ends.reduce((sum, { episodes }) => sum + episodes, 0)
    const plan = kept === null ? await planFor(order, round, plays, left) : null
    if (kept === null && plan === null) break
    const end = kept ?? (await roundWith(order, plan, plays))
    if (end === null) break
    ends.push(end)
    if (ends.length >= IDLE_ROUNDS_MAX && ends.slice(-IDLE_ROUNDS_MAX).every(({ result }) => result !== 'published')) break
    if (end.result !== 'published') continue
    // Their next failures are what the next round learns from. One that was begun with a larger budget goes on.
    const isNextBegun = (await readPlan(order.state, round + 1)) !== null
    if (!isNextBegun && left - end.episodes - learntFrom.length < STEP_EPISODES_LEAST) break
    replays += learntFrom.length
    plays = await replayed(order, learntFrom, plays, end.files)
  }
  return ends
}

/** As it was begun, else a new one; null where nothing fails any more, or too little of the budget is left. */
async function planFor(order: ImproveRun, round: number, plays: readonly KeptPlay[], left: number): Promise<RoundPlan | null> {
  const begun = await readPlan(order.state, round)
  if (begun !== null) return begun
  const failing = order.player.tasks.flatMap((task) => {
    const play = plays.find((each) => each.task === task.name)
    return task.role === 'train' && play !== undefined && play.score !== null && play.score < PASSED ? [{ prompt: task.prompt, play }] : []
  })
  if (failing.length === 0 || left < STEP_EPISODES_LEAST) return null
  // All that is left: a change that does not help is given up early, and one that helps needs room for its screening, its proof and its guard.
  const plan = planRound(round, failing, left)
  await order.state.write(planName(round), plan)
  return plan
}

async function roundWith(order: ImproveRun, plan: RoundPlan | null, plays: readonly KeptPlay[]): Promise<RoundEnd | null> {
  if (plan === null) return null
  const { state, emit, signal, workers } = order
  const opened = await order.open({ reports: plan.reports.length, episodesMax: plan.episodesMax })
  try {
    const secondsPerEpisode = plays.reduce((sum, { seconds }) => sum + seconds, 0) / Math.max(1, plays.length) / workers
    return await runRound({ state, emit, secondsPerEpisode, service: { ...opened, signal }, played: () => opened.played() }, plan)
  } finally {
    await opened.close()
  }
}

/** The tasks that are learnt from, with what is served now. */
async function replayed(order: ImproveRun, tasks: readonly Task[], plays: readonly KeptPlay[], files: Files): Promise<readonly KeptPlay[]> {
  const again = await playStage(order, 'after', tasks, entriesOf(order.adapter, files))
  return plays.map((play) => again.find(({ task }) => task === play.task) ?? play)
}

/** Every task with the better tree; sealed ones, which nothing was chosen by, with the first tree too. */
async function compare(order: ImproveRun, before: readonly KeptPlay[], files: Files): Promise<readonly TaskComparison[]> {
  const { tasks } = order.player
  const sealed = await playStage(order, 'before', sealedTasks(tasks), order.entries)
  const after = await playStage(order, 'after', tasks, entriesOf(order.adapter, files))
  return tasks.map(({ name, role }) => ({ name, role, before: scoreIn([...before, ...sealed], name), after: scoreIn(after, name) }))
}

const scoreIn = (plays: readonly KeptPlay[], name: string): number | null => plays.find(({ task }) => task === name)?.score ?? null

const same = ({ task, role, score }: KeptPlay): TaskComparison => ({ name: task, role, before: score, after: score })

interface EndParts {
  readonly improved: boolean
  readonly rounds: readonly RoundEnd[]
  readonly compared: readonly TaskComparison[]
  readonly taken: readonly KeptPlay[]
}

function resultOf({ improved, rounds, compared, taken }: EndParts): ImproveResult {
  const inRounds = rounds.reduce((sum, { episodes }) => sum + episodes, 0)
  return {
    improved,
    rounds: rounds.map(({ files: _files, ...outcome }) => outcome),
    tasks: compared,
    episodes: taken.length + inRounds,
    ...takenAltogether(taken, rounds),
  }
}
