/** The page of one request: what was asked, its progress while it is under way, and its outcome. */
import { ACTIVITY_LINES_SHOWN_MAX, EPISODES_SHOWN_MAX } from '../contract/index.ts'
import { firstCodePoints } from '../kit/index.ts'
import {
  formatted,
  objectAt,
  promotionOf,
  REQUEST_STAGES,
  requestStatus,
  type RequestStatus,
  type RunningView,
  runningView,
  setupItems,
  stageOf,
  stepName,
  type StepView,
  textAt,
} from '../presentation/index.ts'
import { changesCard } from './changes.ts'
import { card, documentOf, pill, type PageStatus } from './frame.ts'
import { type Html, markup, type Piece } from './html.ts'
import { designCard, needsList, reviewCard } from './notes.ts'
import { headPath, rowsIn, servedPlace, shownStep, versionLink } from './places.ts'
import { code, inline, lasting, moment, prose, term } from './prose.ts'
import { failureBoxes, summaryOf } from './result.ts'
import type { PageRow, ProgressShown, RequestView } from './view.ts'

const ID_CHARACTERS_SHOWN = 8

export function requestPage(view: RequestView): string {
  const { request, row, hasVersions, scenario, progress } = view
  const settled = row === null ? null : { row, step: shownStep(view, row) }
  const status = settled === null ? requestStatus(progress.state) : badgeOf(settled.step)
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
      <div class="rest">${settled === null ? [episodesCard(view), activityCard(view)] : settledCards(view, settled.row, settled.step)}</div>
    </div>`,
  })
}

/** In the words of the version page; but that a request failed is said. */
const badgeOf = ({ status }: StepView): PageStatus => (status.outcome === 'failed' ? { ...status, title: status.word } : status)

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

function progressCard({ progress, running, request, now }: RequestView, status: RequestStatus): Html {
  const { meaning, started_at, episodes_total, step_record } = progress
  const shown = running === null ? null : runningView(running)
  return markup`<section class="card side">
    <h2>Progress</h2>
    ${pill(status)} ${meaning !== null && markup`<p>${meaning}</p>`}
    <dl class="facts">
      ${started_at === null ? term('Waiting for', lasting(now - request.created_at)) : term('Into the step', lasting(now - started_at))}
      ${episodes_total !== null && term('Episodes at most', formatted(episodes_total))}
      ${running !== null && running.episodes_played > 0 && term('Episodes played', formatted(running.episodes_played))}
      ${shown !== null && shown.left !== null && term('Time', shown.left)} ${shown !== null && shown.spent !== null && term('Spent', shown.spent)}
      ${fact('Step record', step_record)}
    </dl>
    <p class="cut">This page reloads every five seconds until there is a result.</p>
  </section>`
}

function settledCards(view: RequestView, row: PageRow, step: StepView): Piece {
  const title = row.result === 'published' ? 'What changed' : 'Proposed changes'
  return [changesCard(title, view, row, view.before, step.powers), reviewCard(step.review), designCard(step.design)]
}

function outcomeCard(view: RequestView, row: PageRow, step: StepView): Html {
  const { place, hasVersions } = view
  return markup`<section class="card side">
    <h2>Result</h2>
    ${pill(badgeOf(step))} ${summaryOf(step, false)}
    <dl class="facts">
      ${hasVersions && place !== null && step.madeRelease && term('Version', stepName(row, place))}
      ${term(step.madeRelease ? 'Release' : 'Ran on release', code(row.release_id))}
    </dl>
    ${failureBoxes(step)}
    <div class="next">
      <h3>Next</h3>
      ${row.pending ? afterHold(view, row, step) : row.result === 'published' ? afterPublish(view, row, step) : again(row)}
    </div>
    ${hasVersions && place !== null && markup`<p>${versionLink(view, place, step.madeRelease ? `All about ${stepName(row, place)}` : 'All about this try')}</p>`}
  </section>`
}

function afterHold(view: RequestView, row: PageRow, step: StepView): Piece {
  if (promotionOf(rowsIn(view.releases), row) !== undefined) return install(view, step)
  return [
    markup`<p>Review the changes, then promote them:</p>`,
    command(`svc promote ${row.release_id} --scenario ${quoted(view.scenario)}`),
    view.wrapper !== null && markup`<p>To try them alone first, in the folder of your harness:</p>`,
    view.wrapper !== null && command(`${view.wrapper} update --release ${row.release_id}`),
  ]
}

function afterPublish(view: RequestView, row: PageRow, step: StepView): Piece {
  const { releases } = view
  const isServed = releases.get(servedPlace(releases) ?? -1)?.release_id === row.release_id
  return [!isServed && markup`<p>A later version is served by now; an update installs that one.</p>`, install(view, step)]
}

function install({ wrapper }: RequestView, { setup }: StepView): Piece {
  if (wrapper === null) return markup`<p>Nothing: agents that follow this scenario change to it by themselves.</p>`
  return [
    markup`<p>Install it in the folder of your harness, then start <code>${wrapper}</code> again:</p>`,
    setup.own.length > 0 && command(`${wrapper} setup`),
    command(`${wrapper} update`),
  ]
}

const again = ({ result }: PageRow): Html =>
  result === 'failed'
    ? markup`<p>It is not retried. Fix the cause, then send it again as a new request.</p>`
    : markup`<p>Rephrase it, or ask for less, as a new request.</p>`

const command = (line: string): Html => markup`<pre class="command"><code>${line}</code></pre>`

/** One word for a shell. */
const quoted = (word: string): string => (/^[\w.@:+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** As the console shows them; a page without scripts has them as of its last load. */
function episodesCard({ running }: RequestView): Html | null {
  const { episodes } = running === null ? { episodes: [] } : runningView(running)
  if (episodes.length === 0) return null
  return card(
    'Episodes',
    markup`<ul class="episodes">
      ${episodes.map(episodeOf)}
    </ul>`,
    episodes.length === EPISODES_SHOWN_MAX && markup`<p class="cut">These are the latest ${EPISODES_SHOWN_MAX}, the newest first.</p>`,
  )
}

const episodeOf = ({ task, side, score, words, took }: RunningView['episodes'][number]): Html =>
  markup`<li>
    <span>${code(task)} ${side}</span>
    <b>${score}</b>
    <p class="cut">${took}${words !== null && [': ', inline(words)]}</p>
  </li>`

/** Nothing before a step holds the request. */
function activityCard({ progress, now }: RequestView): Html | null {
  const { started_at, activity } = progress
  if (started_at === null) return null
  const lines = activity.slice(-ACTIVITY_LINES_SHOWN_MAX).toReversed()
  if (lines.length === 0) return card('Activity', markup`<p>The step has not said anything yet.</p>`)
  return card(
    'Activity',
    markup`<ol class="activity" reversed>
      ${lines.map((line, index) => lineOf(line, started_at, index === 0 ? now : null))}
    </ol>`,
    lines.length === ACTIVITY_LINES_SHOWN_MAX &&
      markup`<p class="cut">These are the latest ${ACTIVITY_LINES_SHOWN_MAX} lines; the step record keeps every call.</p>`,
  )
}

function lineOf({ at, kind, text, failed }: ProgressShown['activity'][number], startedAt: number, now: number | null): Html {
  return markup`<li${failed === true && markup` class="failed"`}><span class="clock">${clockOf(at - startedAt)}</span> <span class="kind">${inline(kind)}</span> <span>${
    failed === true && markup`<b>Failed:</b> `
  }${inline(text)}${now !== null && markup` <span class="cut">${lasting(now - at)} ago</span>`}</span></li>`
}

/** "+1:05" */
function clockOf(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  return `+${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}
