/** One step as plain data: everything that the pages, the console and the terminal show of it. They lay it out and derive nothing. */
import type { Requires } from '../contract/index.ts'
import { madeRelease, type StepRow, type StepRows } from './chain.ts'
import { briefOf, taskScoresOf } from './decision.ts'
import { evidenceOf, headlineOf, namedNumbers, tasksOf, type StepFact } from './evidence.ts'
import { spentText } from './money.ts'
import { counted, formatted } from './numbers.ts'
import { statusOf } from './outcome.ts'
import { powersOfStep } from './powers.ts'
import { listAt, numberAt, objectAt, textAt, textsAt, type UnknownRecord } from './read.ts'
import { replacedRequests } from './replaces.ts'
import { meanScores, scoreText, type MeanScores } from './scores.ts'
import { commentsOf, decisionOf, designOf, failuresOf, reasonOf, rejectionReason, reviewOf, setupOf } from './why.ts'

export type StepView = ReturnType<typeof stepView>

export interface StepScores extends MeanScores {
  /** "0.25 → 0.75"; the score of the candidate alone where the served release was not played. */
  readonly text: string
  readonly tone: 'good' | 'bad' | 'plain'
  /** "9 won, 1 lost, 6 tied"; null where no pairs were counted. */
  readonly pairs: string | null
}

interface StepContext<Row extends StepRow> {
  /** The other rows of the scenario. */
  readonly rows: StepRows<Row>
  /** What a row is called, such as "v3". */
  readonly nameOf: (row: Row) => string
  /** What earlier steps of the chain require. */
  readonly carried?: readonly Requires[]
}

export function stepView<Row extends StepRow>(row: StepRow, { rows, nameOf, carried = [] }: StepContext<Row>) {
  const { metrics } = row
  const headline = headlineOf(metrics)
  const brief = [...briefOf(metrics), ...replacedRequests(rows, row, nameOf)]
  return {
    status: statusOf(rows, row),
    madeRelease: madeRelease(row),
    reason: reasonOf(rows, row, nameOf),
    /** Why a person rejected what the step holds. */
    rejection: rejectionReason(rows, row),
    /** What people said of it while it was held and after. */
    comments: commentsOf(rows, row),
    design: designOf(metrics),
    /** The result, what changed and what that may do, a sentence each. */
    brief,
    /** The same where the headline stands by itself. */
    points: headline === null ? brief : brief.slice(1),
    /** "10 of 14 improved, none worse; …"; null where no pairs were counted. */
    headline,
    /** Why the outcome is what it is. */
    decision: decisionOf(metrics),
    failures: failuresOf(metrics),
    scores: scoresOf(metrics),
    /** "144 episodes played, 16 known from before" */
    cost: costOf(metrics),
    /** "34,100 tokens in, 2,000 out, cost 0.12"; null where nothing was counted. */
    spent: spentText(metrics),
    /** The same of all steps since the release before; null of a step that made none. */
    improvementSpent: spentText(metrics, 'improvement_spent'),
    numbers: numbersOf(metrics),
    facts: factsOf(metrics),
    evidence: evidenceOf(metrics),
    tasks: tasksOf(metrics),
    /** Both sides by task, what got worse first. */
    taskScores: taskScoresOf(metrics),
    /** What the change could do on a machine; null of a step that changes no harness. */
    powers: powersOfStep(metrics),
    review: reviewOf(metrics),
    setup: setupOf(metrics, carried),
  }
}

/** Null of a step that played nothing. */
function scoresOf(metrics: UnknownRecord): StepScores | null {
  const scores = meanScores(metrics)
  if (scores === null) return null
  const { candidate, current } = scores
  const shown = candidate === null ? 'not played' : scoreText(candidate)
  const [wins, losses, ties] = (['wins', 'losses', 'ties'] as const).map((name) => numberAt(metrics, name))
  return {
    ...scores,
    text: current === null ? shown : `${scoreText(current)} → ${shown}`,
    tone: candidate === null || current === null || candidate === current ? 'plain' : candidate > current ? 'good' : 'bad',
    pairs: typeof wins === 'number' ? `${wins} won, ${losses ?? 0} lost, ${ties ?? 0} tied` : null,
  }
}

function costOf(metrics: UnknownRecord): string | null {
  const [used, cached, saved] = (['episodes_used', 'episodes_cached', 'episodes_saved'] as const).map((name) => numberAt(metrics, name))
  if (typeof used !== 'number') return null
  return [
    `${counted(used, 'episode')} played`,
    ...(typeof cached === 'number' ? [`${formatted(cached)} known from before`] : []),
    ...(typeof saved === 'number' ? [`${formatted(saved)} saved by ending early`] : []),
  ].join(', ')
}

type NamedNumber = readonly [name: string, label: string, meaning: string]

/** In the order in which they are read; a row has those that apply. */
const NUMBERS_BEFORE: readonly NamedNumber[] = [
  ['wins', 'Pairs won', 'Pairs in which the change scored higher than what is served.'],
  ['losses', 'Pairs lost', 'Pairs in which the change scored lower than what is served.'],
  ['ties', 'Pairs tied', 'Pairs in which both sides scored the same.'],
  ['passed', 'Passed', 'Tasks that the change passed.'],
  ['failed', 'Failed', 'Tasks that the change did not pass.'],
  ['floor_score', 'Score to reach', 'The score that every task had to reach with the change.'],
]
const NUMBERS_AFTER: readonly NamedNumber[] = [
  ['episode_failures', 'Without a score', 'Episodes that could not be played or scored; each counts as 0.'],
  ['episodes_repeated', 'Played again', 'Episodes that were played once more after trouble that neither side caused.'],
  ['episodes_seeded', 'With the seeds of both sides', 'Episodes whose answers all came with the seed that both sides of the pair share.'],
  ['episodes_rechecked', 'Checked again', 'Scores known from before that were played again before it was decided.'],
  ['pairs_resumed', 'Pairs of earlier steps', 'Pairs that an earlier step played on the same change.'],
  ['screened_changes', 'Changes screened', 'Changes that were tried on a few tasks before one was measured.'],
  ['screened_kept', 'Changes kept by the screening', 'Those of them that looked good enough to be measured.'],
  ['screen_episodes', 'Episodes of the screening', 'Episodes that the screening played.'],
  ['evaluation_task_count', 'Tasks', 'How many different tasks were played.'],
  ['not_run_tasks', 'No longer held out', 'Tasks that were not played, since an earlier version showed them to the author of a change.'],
  [
    'withheld_samples',
    'Samples kept from the proposer',
    'Samples of traffic that quote a held-out task, so that the author of the change did not see them.',
  ],
  ['seeming_failures', 'Without a score, and seem to have failed', 'Samples that nobody scored and that look as if they went wrong.'],
  ['episodes_used', 'Episodes played', 'An episode is one run of the agent on one task.'],
  ['episodes_cached', 'Known from before', 'Episodes whose score an earlier step had, so that they were not played again.'],
  ['episodes_saved', 'Episodes saved', 'Episodes that were allowed and not needed: the result was clear before.'],
  ['proposer_calls', 'Model calls', 'How often the author of the change asked a model.'],
  ['proposer_input_tokens', 'Tokens in', 'Tokens that the author of the change sent to the model.'],
  ['proposer_output_tokens', 'Tokens out', 'Tokens that the model answered the author of the change with.'],
]

function numbersOf(metrics: UnknownRecord): readonly StepFact[] {
  const { current = null, candidate = null } = meanScores(metrics) ?? {}
  return [
    ...namedNumbers(metrics, NUMBERS_BEFORE),
    ...(current === null ? [] : [['Current score', scoreText(current), 'The mean score per episode as served.'] as const]),
    ...(candidate === null ? [] : [['Candidate score', scoreText(candidate), 'The mean score per episode with the change.'] as const]),
    ...namedNumbers(metrics, NUMBERS_AFTER),
  ]
}

function factsOf(metrics: UnknownRecord): readonly StepFact[] {
  const selection = objectAt(metrics, 'selection')
  const context = objectAt(metrics, 'evaluation_context')
  const facts = [
    ['Skipped', textAt(metrics, 'skipped')],
    ['Took', spentText(metrics)],
    ['Since the last release', spentText(metrics, 'improvement_spent')],
    ['Screening', textAt(metrics, 'screening')],
    ['Decided because', textAt(selection, 'reason')],
    ['Held because', textAt(metrics, 'held_because')],
    ['Policy', textAt(selection, 'policy')],
    ['Sides played', textsAt(metrics, 'evaluation_sides').join(', ')],
    ['Measured with', ['model', 'adapter', 'adapter_version'].flatMap((name) => textAt(context, name) ?? []).join(', ')],
    ['Counted as one family', joinedWords(metrics)],
    ['No points on either side', unsolvedWords(metrics)],
    ['Known scores dropped', textAt(metrics, 'known_scores_dropped')],
    ['Step record', textAt(metrics, 'step_record')],
    ['No step record', textAt(metrics, 'step_record_error')],
  ] as const
  return facts.flatMap(([label, text]) => (text === null || text === '' ? [] : [[label, text] as const]))
}

/** Tasks that the gate found to be alike, family by family. */
const joinedWords = (metrics: UnknownRecord): string =>
  listAt(metrics, 'joined_tasks')
    .map((names) => textsAt({ names }, 'names').join(', '))
    .filter((names) => names !== '')
    .join('; ')

/** Tasks on which neither side has a point show nothing, and often their evaluator is wrong. Empty where there are none. */
export function unsolvedWords(metrics: UnknownRecord): string {
  const tasks = textsAt(metrics, 'unsolved_tasks')
  return tasks.length === 0 ? '' : `${tasks.join(', ')}. Check the evaluator: a task that neither side solves shows nothing.`
}
