/** The card of what came of a step: the word and its meaning, the numbers of its evaluation, why it was decided so, and what went wrong. */
import { meanScores, scoreText } from '@svc-ai/client/scores'
import type { JsonObject } from '../contract/index.ts'
import { evidenceOf } from './evidence.ts'
import { card } from './frame.ts'
import { markup, type Html, type Piece } from './html.ts'
import { code, formatted, inline, listed, prose, term } from './prose.ts'
import { numberAt, objectAt, objectsAt, textAt, textsAt } from './read.ts'
import { statusOf } from './status.ts'
import type { CatalogRow, Releases } from './view.ts'

export function resultCard(releases: Releases, row: CatalogRow, isServed: boolean): Html {
  const { metrics } = row
  const { word, tone, meaning } = statusOf(releases, row)
  return card(
    'Result',
    markup`<p class="summary ${tone}"><b>${word}.</b> ${meaning}${isServed && ' It is what clients pull now.'}</p>`,
    numbersOf(metrics),
    factsOf(metrics),
    failuresOf(metrics),
    evidenceOf(metrics),
    episodesOf(metrics),
  )
}

/** In the order in which they are read; a row has those that apply. */
const NUMBERS: readonly (readonly [name: string, label: string])[] = [
  ['wins', 'Pairs won'],
  ['losses', 'Pairs lost'],
  ['ties', 'Pairs tied'],
  ['passed', 'Passed'],
  ['failed', 'Failed'],
  ['floor_score', 'Score to reach'],
  ['current_score', 'Current score'],
  ['candidate_score', 'Candidate score'],
  ['episode_failures', 'Without a score'],
  ['evaluation_task_count', 'Tasks'],
  ['not_run_tasks', 'Held out no longer'],
  ['episodes_used', 'Episodes played'],
  ['episodes_cached', 'Known from before'],
  ['episodes_saved', 'Episodes saved'],
  ['proposer_calls', 'Model calls'],
  ['proposer_input_tokens', 'Tokens in'],
  ['proposer_output_tokens', 'Tokens out'],
]

function numbersOf(metrics: JsonObject): Piece {
  const scores = meanScores(metrics)
  const means: Readonly<Record<string, number | null | undefined>> = { current_score: scores?.current, candidate_score: scores?.candidate }
  const numbers = NUMBERS.flatMap(([name, label]) => {
    const isMean = Object.hasOwn(means, name)
    const value = (isMean ? means[name] : numberAt(metrics, name)) ?? null
    return value === null ? [] : [term(label, isMean ? scoreText(value) : formatted(value))]
  })
  if (numbers.length === 0) return null
  return [markup`<dl class="numbers">${numbers}</dl>`, scores !== null && markup`<p class="cut">${SCALE}</p>`]
}

const SCALE = 'A score is the mean per episode; an episode without a score counts as 0.'

function factsOf(metrics: JsonObject): Piece {
  const selection = objectAt(metrics, 'selection')
  const facts = [
    fact('Skipped', textAt(metrics, 'skipped')),
    fact('Decided because', textAt(selection, 'reason')),
    fact('Policy', textAt(selection, 'policy')),
    fact('Sides played', textsAt(metrics, 'evaluation_sides').join(', ')),
    fact('Measured with', contextWords(objectAt(metrics, 'evaluation_context'))),
    fact('Neither side has a point in', unsolvedWords(textsAt(metrics, 'unsolved_tasks'))),
    fact('Step record', textAt(metrics, 'step_record')),
    fact('No step record', textAt(metrics, 'step_record_error')),
  ]
  return facts.some((one) => one !== null) && markup`<dl class="facts">${facts}</dl>`
}

const fact = (label: string, text: string | null): Html | null => (text === null || text === '' ? null : term(label, inline(text)))

/** Nothing can be told by such a task, and more often than not its evaluator is why. */
const unsolvedWords = (tasks: readonly string[]): string =>
  tasks.length === 0 ? '' : `${tasks.join(', ')}. Look at what the evaluator said: a task that nobody can solve tells nothing.`

const contextWords = (context: JsonObject): string =>
  ['model', 'adapter', 'adapter_version'].flatMap((name) => textAt(context, name) ?? []).join(', ')

/** Also on the page of the request that the step was for. */
export function failuresOf(metrics: JsonObject): Piece {
  const stage = textAt(metrics, 'failed_stage')
  const failures = [
    { title: stage === null ? 'The step failed' : `The step failed while ${stage}`, text: textAt(metrics, 'error') },
    { title: 'The proposer had nothing to show', text: textAt(objectAt(metrics, 'proposal_notes'), 'failure') },
  ]
  return failures.map(
    ({ title, text }) =>
      text !== null &&
      markup`<div class="box bad">
        <h3>${title}</h3>
        ${prose(text)}
      </div>`,
  )
}

/** The first episodes of the candidate, one by one. */
function episodesOf(metrics: JsonObject): Piece {
  const episodes = objectsAt(metrics, 'candidate_episodes')
  if (episodes.length === 0) return null
  return markup`<details>
    <summary>The candidate's first episodes</summary>
    <ul class="episodes">
      ${listed(episodes, episodeOf)}
    </ul>
  </details>`
}

function episodeOf(episode: JsonObject): Html {
  const score = numberAt(episode, 'score')
  const said = [textAt(episode, 'failure'), textAt(episode, 'evaluation')].filter((words) => words !== null)
  const repeat = numberAt(episode, 'repeat')
  const again = repeat !== null && repeat > 0 && ` played again (${formatted(repeat + 1)})`
  return markup`<li>
    <span>${code(textAt(episode, 'task') ?? 'a task without a name')}${again}</span>
    <b>${score === null ? 'no score' : scoreText(score)}</b>${said.map((words) => markup`<p class="cut">${inline(words)}</p>`)}
  </li>`
}
