/** The card of what came of a request: the result, what it means, and what to do next, with the command for it. */
import { markup, type Html, type Piece } from './html.ts'
import { pill } from './frame.ts'
import { versionLink } from './links.ts'
import { code, term } from './prose.ts'
import { objectAt, objectsAt } from './read.ts'
import { failuresOf } from './result.ts'
import { madeRelease, promotionOf, servedIn, statusOf } from './status.ts'
import type { CatalogRow, RequestView } from './view.ts'

export function outcomeCard(view: RequestView, row: CatalogRow): Html {
  const status = statusOf(view.releases, row)
  return markup`<section class="card side">
    <h2>Result</h2>
    ${pill(status)}
    <p>${status.meaning}</p>
    ${factsOf(view, row)} ${failuresOf(row.metrics)} ${nextOf(view, row)}
    ${view.hasVersions && view.place !== null && markup`<p>${versionLink(view, view.place, `All about v${view.place}`)}</p>`}
  </section>`
}

function factsOf({ place, hasVersions }: RequestView, row: CatalogRow): Html {
  return markup`<dl class="facts">
    ${hasVersions && place !== null && term('Version', `v${place}`)}
    ${term(madeRelease(row) ? 'Release' : 'Ran on release', code(row.release_id))}
  </dl>`
}

/** What a person does next, and where. */
function nextOf(view: RequestView, row: CatalogRow): Html {
  return markup`<div class="next">
    <h3>Next</h3>
    ${row.pending ? afterHold(view, row) : row.result === 'published' ? afterPublish(view, row) : again(row)}
  </div>`
}

function afterHold(view: RequestView, row: CatalogRow): Piece {
  if (promotionOf(view.releases, row) !== undefined) return install(view, row, null)
  return [
    markup`<p>Look at the changes, then serve them to everybody:</p>`,
    command(`svc promote ${row.release_id} --scenario ${quoted(view.scenario)}`),
    view.wrapper !== null && markup`<p>To try them alone first, in the folder of your harness:</p>`,
    view.wrapper !== null && command(`${view.wrapper} update --release ${row.release_id}`),
  ]
}

function afterPublish(view: RequestView, row: CatalogRow): Piece {
  if (servedIn(view.releases)?.release_id === row.release_id) return install(view, row, null)
  return install(view, row, markup`<p>A later version is served by now, and is what an update brings.</p>`)
}

function install({ wrapper }: RequestView, { metrics }: CatalogRow, word: Html | null): Piece {
  if (wrapper === null) return [word, markup`<p>Nothing: agents that follow this scenario change to it by themselves.</p>`]
  const needs = objectsAt(objectAt(metrics, 'training_request'), 'requires').length > 0
  return [
    word,
    markup`<p>Install it in the folder of your harness, then start <code>${wrapper}</code> again:</p>`,
    needs && command(`${wrapper} setup`),
    command(`${wrapper} update`),
  ]
}

const again = ({ result }: CatalogRow): Html =>
  result === 'failed'
    ? markup`<p>It is not tried again by itself. Once the cause is gone, send it again as a new request.</p>`
    : markup`<p>Say it in other words, or smaller, as a new request.</p>`

const command = (line: string): Html => markup`<pre class="command"><code>${line}</code></pre>`

/** As a shell takes it for one word. */
const quoted = (word: string): string => (/^[\w.@:+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
