/** The page of one request: what was asked, how far it is while it is under way, and what came of it. */
import { firstCodePoints } from '../kit/index.ts'
import { activityCard } from './activity.ts'
import { changesCard } from './changes.ts'
import { card, documentOf, pill } from './frame.ts'
import { markup, type Html, type Piece } from './html.ts'
import { headPath } from './links.ts'
import { designCard, reviewCard } from './notes.ts'
import { outcomeCard } from './outcome.ts'
import { code, formatted, inline, lasting, moment, prose, term } from './prose.ts'
import { objectAt, objectsAt, textAt } from './read.ts'
import { needsList } from './setup.ts'
import { statusOf, type Status } from './status.ts'
import type { CatalogRow, RequestView } from './view.ts'

const ID_CHARACTERS_SHOWN = 8

export function requestPage(view: RequestView): string {
  const { request, releases, row, hasVersions, scenario } = view
  const status = row === null ? stateOf(view) : statusOf(releases, row)
  return documentOf({
    title: `Harness request ${firstCodePoints(request.id, ID_CHARACTERS_SHOWN)}`,
    section: 'Requests',
    scenario,
    home: hasVersions ? headPath(view, null) : null,
    eyebrow: 'Request',
    subtitle: markup`<span>Id <code>${inline(request.id)}</code></span> ${moment(request.created_at)}`,
    status,
    below: stagesOf(view),
    reloads: row === null,
    isWide: true,
    main: markup`<div class="columns">
      ${requestCard(view)}${row === null ? progressCard(view, status) : outcomeCard(view, row)}
      <div class="rest">${row === null ? activityCard(view) : settledCards(view, row)}</div>
    </div>`,
  })
}

const STATES: Readonly<Record<string, Pick<Status, 'word' | 'tone'>>> = {
  queued: { word: 'Queued', tone: 'calm' },
  running: { word: 'In progress', tone: 'busy' },
  proposing: { word: 'Designing the change', tone: 'busy' },
  evaluating: { word: 'Checking the harness', tone: 'busy' },
  settling: { word: 'Saving the result', tone: 'busy' },
}

const stateOf = ({ progress: { state } }: RequestView): Pick<Status, 'word' | 'tone'> => STATES[state] ?? { word: state, tone: 'busy' }

const STAGES = ['Received', 'Processing', 'Recording', 'Outcome']
const STAGE_OF: Readonly<Record<string, number>> = { queued: 0, settling: 2 }

function stagesOf({ place, progress: { state } }: RequestView): Html {
  const now = place === null ? (STAGE_OF[state] ?? 1) : STAGES.length - 1
  const isDone = (stage: number): boolean => stage < now || place !== null
  return markup`<ol class="stages" aria-label="Stages">
    ${STAGES.map(
      (name, stage) =>
        markup`<li${isDone(stage) && markup` class="done"`}${stage === now && markup` aria-current="step"`}><span>${name}</span>${
          isDone(stage) && markup`<span class="quiet"> (done)</span>`
        }</li>`,
    )}
  </ol>`
}

function requestCard({ request: { asked, id, created_at } }: RequestView): Html {
  const requires = objectsAt(asked, 'requires')
  return card(
    'Request',
    markup`<blockquote>${prose(textAt(asked, 'text') ?? 'Its text is not kept any more: the store made room for newer records.')}</blockquote>`,
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

function progressCard({ progress, request, now }: RequestView, status: Pick<Status, 'word' | 'tone'>): Html {
  const { meaning, started_at, episodes_total, step_record } = progress
  return markup`<section class="card side">
    <h2>Progress</h2>
    ${pill(status)} ${meaning !== null && markup`<p>${meaning}</p>`}
    <dl class="facts">
      ${started_at === null ? term('Waiting for', lasting(now - request.created_at)) : term('Into the step', lasting(now - started_at))}
      ${episodes_total !== null && term('Episodes at most', formatted(episodes_total))} ${fact('Step record', step_record)}
    </dl>
    <p class="cut">This page asks again every five seconds until there is a result.</p>
  </section>`
}

function settledCards(view: RequestView, row: CatalogRow): Piece {
  const title = row.result === 'published' ? 'What changed' : 'Proposed changes'
  return [changesCard(title, view, row, view.before), reviewCard(row.metrics), designCard(row.metrics)]
}
