/**
 * Screens the changes of a step on train tasks, all at once, before the gate: takes out those that carry nothing there, and makes the others one
 * change, which is proved once. The gate counts none of it.
 */
import type { Entry, Json, Task } from '../../contract/index.ts'
import { playableTree, treeOf, type ProposedChange, type Skip } from '../candidate.ts'
import type { TaskChoice } from '../choose-tasks.ts'
import { inTurns } from '../in-turns.ts'
import { worthOf } from '../objective.ts'
import type { Screening, StepRun } from '../run.ts'
import { alternativesIn, contendersOf, sumOf, type Contender } from './contenders.ts'
import { counted, lotOf } from '../../kit/index.ts'
import { Gains, splitPair } from './design.ts'

/** Fewer train tasks tell too little. */
const TASKS_MIN = 4
/** Where the step has no budget. */
const PAIRS_MAX = 24
const SIDES = 2

/** What a step may screen with, or null. A task whose evaluator compares has no score of its own. */
export async function screeningOf(run: StepRun, { train }: TaskChoice): Promise<Screening | null> {
  const { context, order, episodes } = run
  if (order.batch.request !== null || train.length < TASKS_MIN) return null
  const pairs = Math.min(PAIRS_MAX, Math.floor((context.settings.screen_share * (episodes.left ?? Infinity)) / SIDES))
  if (!(pairs >= TASKS_MIN)) return null
  const compares = await Promise.all(train.map((task) => episodes.compares(task)))
  const tasks = train.filter((_, at) => compares[at] === false)
  return tasks.length < TASKS_MIN ? null : { pairs, tasks }
}

export async function screen(
  run: StepRun,
  choice: TaskChoice,
  screening: Screening,
  found: readonly ProposedChange[],
): Promise<ProposedChange | Skip> {
  const contenders = contendersOf(run, choice, found)
  if (contenders.length === 0) return unscreened(run, choice, found)
  const before = run.episodes.used
  run.report.line('check', `screens ${counted(contenders.length, 'change')} on train tasks: at most ${SIDES * screening.pairs} episodes`)
  const groups = alternativesIn(run, contenders)
  const pairs = await playPairs(run, screening, groups)
  const gains = pairs.fit()
  const parts = partsToProve(run, choice, groups, gains)
  const words = wordsOf(contenders.length, parts.length, pairs.pairs)
  run.report.line('check', words, parts.length === 0)
  await run.record?.write('screen.json', { words, changes: contenders.map((one) => listed(one, gains, parts)) })
  Object.assign(run.metrics, {
    screening: words,
    screened_changes: contenders.length,
    screened_kept: parts.length,
    screen_episodes: run.episodes.used - before,
  })
  return parts.length === 0 ? { skip: words } : sumOf(parts)
}

/** Admission says why a change cannot be played. */
function unscreened(run: StepRun, { gate }: TaskChoice, found: readonly ProposedChange[]): ProposedChange | Skip {
  return (
    found.find((change) => typeof playableTree(run, gate, change) === 'string') ?? {
      skip: 'every change holds train tasks, so that they cannot tell whether it helps',
    }
  )
}

/** Each episode has a score of its own in the cache, so that a step that was killed goes on where it was. */
async function playPairs(run: StepRun, { tasks, pairs }: Screening, groups: readonly (readonly Contender[])[]): Promise<Gains<Contender>> {
  const { context, order } = run
  const seed = `${context.scenario}:${order.step}:${order.batch.id}`
  const byLot = tasks.toSorted((a, b) => lotOf(`${seed} ${a.name}`) - lotOf(`${seed} ${b.name}`))
  const gains = new Gains<Contender>()
  const play = async (at: number): Promise<null> => {
    const [task, repeat] = [byLot[at % byLot.length], Math.floor(at / byLot.length)]
    const pair = splitPair(groups, `${seed} ${at}`)
    const [one, other] = [treeWith(run, pair.one), treeWith(run, pair.other)]
    if (task === undefined || one === null || other === null) return null
    const playedOne = await played(run, one, task, repeat)
    const playedOther = playedOne === null ? null : await played(run, other, task, repeat)
    if (playedOne === null || playedOther === null) return null
    run.report.line('trial', `${task.name}: ${playedOne.score} and ${playedOther.score}, with different changes`)
    gains.add(pair, playedOne.worth, playedOther.worth)
    return null
  }
  await inTurns(
    context.settings.episode_workers,
    Array.from({ length: pairs }, (_, at) => () => play(at)),
  )
  return gains
}

/** Null where they cannot be admitted together. */
function treeWith(run: StepRun, contenders: ReadonlySet<Contender>): readonly Entry[] | null {
  const mutations = [...contenders].flatMap((one) => one.mutations)
  const tree = mutations.length === 0 ? run.entries : treeOf(run, mutations)
  return typeof tree === 'string' ? null : tree
}

/** Null where there is no score, or no episode is left. */
async function played({ episodes, context: { settings } }: StepRun, entries: readonly Entry[], task: Task, repeat: number) {
  const order = { side: 'trial', entries, task, repeat } as const
  const known = await episodes.known(order)
  const isUsable = known !== null && (known.step === episodes.step || episodes.isRecent(known))
  const result = isUsable ? await episodes.take(order, known) : await episodes.play(order, null)
  if (result === null || result.score === null) return null
  const { score } = result
  return { score, worth: worthOf(settings.objective, result) ?? score }
}

/** A change that does worse than this with others is taken out; a lower bound keeps small gains that few tasks can show. */
const GAIN_MIN = 0

type GainsByChange = ReadonlyMap<Contender, number>
const gainIn = (gains: GainsByChange, one: Contender): number => gains.get(one) ?? 0

/** The most promising company: the best of each group that gained. Empty: nothing did. */
function partsToProve(
  run: StepRun,
  { gate }: TaskChoice,
  groups: readonly (readonly Contender[])[],
  gains: GainsByChange,
): readonly Contender[] {
  const gained = groups.map((group) =>
    group.filter((one) => gainIn(gains, one) > GAIN_MIN).toSorted((a, b) => gainIn(gains, b) - gainIn(gains, a)),
  )
  const companies = [
    ...(['free', 'held'] as const).map((company) => gained.flatMap((group) => group.filter((one) => one.company === company).slice(0, 1))),
    ...gained.flat().flatMap((one) => (one.company === null ? [[one]] : [])),
  ]
  const promiseOf = (parts: readonly Contender[]): number => parts.reduce((sum, one) => sum + gainIn(gains, one), 0)
  for (const parts of companies.toSorted((a, b) => promiseOf(b) - promiseOf(a))) {
    const byGain = parts.toSorted((a, b) => gainIn(gains, b) - gainIn(gains, a))
    // The weakest goes first where the sum was decided before, or cannot be admitted.
    for (let count = byGain.length; count > 0; count -= 1) {
      const some = new Set(byGain.slice(0, count))
      const sum = parts.filter((one) => some.has(one))
      if (typeof playableTree(run, gate, sumOf(sum)) !== 'string') return sum
    }
  }
  return []
}

function wordsOf(changes: number, kept: number, pairs: number): string {
  const on = `on ${counted(pairs, 'pair')} of train episodes`
  if (kept === 0) return `screened: none of ${counted(changes, 'change')} did better ${on}`
  if (kept === 1) return `screened: 1 of ${counted(changes, 'change')} goes to the gate, after ${on.slice('on '.length)}`
  return `screened: ${kept} of ${counted(changes, 'change')} go to the gate as one, after ${on.slice('on '.length)}`
}

const listed = (one: Contender, gains: GainsByChange, parts: readonly Contender[]): Json => ({
  entries: one.mutations.map(({ op, id }) => `${op} ${id}`),
  gain: Number(gainIn(gains, one).toFixed(GAIN_DIGITS)),
  kept: parts.includes(one),
})
const GAIN_DIGITS = 4
