/** The card of a request's result: the outcome, what it means, and what to do next, with the command for it. */
import { promotionOf, type StepView } from '../presentation/index.ts'
import { markup, type Html, type Piece } from './html.ts'
import { pill } from './frame.ts'
import { versionLink } from './links.ts'
import { rowsIn, servedPlace } from './places.ts'
import { code, term } from './prose.ts'
import { failureBoxes, summaryOf } from './result.ts'
import type { PageRow, RequestView } from './view.ts'

export function outcomeCard(view: RequestView, row: PageRow, step: StepView): Html {
  const { place, hasVersions } = view
  return markup`<section class="card side">
    <h2>Result</h2>
    ${pill(step.status)} ${summaryOf(step, false)}
    <dl class="facts">
      ${hasVersions && place !== null && term('Version', `v${place}`)}
      ${term(step.madeRelease ? 'Release' : 'Ran on release', code(row.release_id))}
    </dl>
    ${failureBoxes(step)}
    <div class="next">
      <h3>Next</h3>
      ${row.pending ? afterHold(view, row, step) : row.result === 'published' ? afterPublish(view, row, step) : again(row)}
    </div>
    ${hasVersions && place !== null && markup`<p>${versionLink(view, place, `All about v${place}`)}</p>`}
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
