/** The page of one request: what was asked, its progress while it is under way, and its outcome. */
import { firstCodePoints } from '../kit/index.ts'
import {
  formatted,
  objectAt,
  REQUEST_STAGES,
  requestStatus,
  setupItems,
  stageOf,
  textAt,
  type RequestStatus,
  type StepView,
} from '../presentation/index.ts'
import { activityCard } from './activity.ts'
import { changesCard } from './changes.ts'
import { card, documentOf, pill } from './frame.ts'
import { markup, type Html, type Piece } from './html.ts'
import { headPath } from './links.ts'
import { designCard, needsList, reviewCard } from './notes.ts'
import { outcomeCard } from './outcome.ts'
import { code, inline, lasting, moment, prose, term } from './prose.ts'
import { shownStep } from './places.ts'
import type { PageRow, RequestView } from './view.ts'

const ID_CHARACTERS_SHOWN = 8

export function requestPage(view: RequestView): string {
  const { request, row, hasVersions, scenario, progress } = view
  const settled = row === null ? null : { row, step: shownStep(view, row) }
  const status = settled?.step.status ?? requestStatus(progress.state)
  return documentOf({
    title: `Harness request ${firstCodePoints(request.id, ID_CHARACTERS_SHOWN)}`,
    section: 'Requests',
    scenario,
    home: hasVersions ? headPath(view, null) : null,
    eyebrow: 'Request',
    subtitle: markup`<span>Id <code>${inline(request.id)}</code></span> ${moment(request.created_at)}`,
    status,
    below: stagesOf(view),
    reloads: settled === null,
    isWide: true,
    main: markup`<div class="columns">
      ${requestCard(view)}${settled === null ? progressCard(view, status) : outcomeCard(view, settled.row, settled.step)}
      <div class="rest">${settled === null ? activityCard(view) : settledCards(view, settled.row, settled.step)}</div>
    </div>`,
  })
}

function stagesOf({ place, progress: { state } }: RequestView): Html {
  const now = stageOf({ settled: place !== null, state })
  const isDone = (stage: number): boolean => stage < now || place !== null
  return markup`<ol class="stages" aria-label="Stages">
    ${REQUEST_STAGES.map(
      (name, stage) =>
        markup`<li${isDone(stage) && markup` class="done"`}${stage === now && markup` aria-current="step"`}><span>${name}</span>${
          isDone(stage) && markup`<span class="quiet"> (done)</span>`
        }</li>`,
    )}
  </ol>`
}

function requestCard({ request: { asked, id, created_at } }: RequestView): Html {
  const requires = setupItems(asked)
  return card(
    'Request',
    markup`<blockquote>${prose(textAt(asked, 'text') ?? 'Its text was evicted to make room for newer records.')}</blockquote>`,
    markup`<details>
      <summary>Where it came from</summary>
      <dl class="facts">
        ${fact('Session', textAt(asked, 'session'))} ${fact('Release', textAt(asked, 'release_id'))} ${fact('Request id', id)}
        ${term('Submitted', moment(created_at))} ${fact('Machine', machineWords(asked))}
      </dl>
      ${requires.length > 0 && [markup`<h3>What it needs of the machine</h3>`, needsList(requires)]}
    </details>`,
  )
}

const fact = (label: string, text: string | null): Html | null => (text === null ? null : term(label, code(text)))

function machineWords(asked: RequestView['request']['asked']): string | null {
  const client = objectAt(asked, 'client')
  return ['platform', 'release', 'arch'].flatMap((name) => textAt(client, name) ?? []).join(' ') || null
}

function progressCard({ progress, request, now }: RequestView, status: RequestStatus): Html {
  const { meaning, started_at, episodes_total, step_record } = progress
  return markup`<section class="card side">
    <h2>Progress</h2>
    ${pill(status)} ${meaning !== null && markup`<p>${meaning}</p>`}
    <dl class="facts">
      ${started_at === null ? term('Waiting for', lasting(now - request.created_at)) : term('Into the step', lasting(now - started_at))}
      ${episodes_total !== null && term('Episodes at most', formatted(episodes_total))} ${fact('Step record', step_record)}
    </dl>
    <p class="cut">This page reloads every five seconds until there is a result.</p>
  </section>`
}

function settledCards(view: RequestView, row: PageRow, step: StepView): Piece {
  const title = row.result === 'published' ? 'What changed' : 'Proposed changes'
  return [changesCard(title, view, row, view.before), reviewCard(step.review), designCard(step.design)]
}
