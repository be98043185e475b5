/** The page of one step: why it was taken, what it changed, what came of it, and where it stands. */
import { changesCard } from './changes.ts'
import { chainCard } from './chain.ts'
import { documentOf } from './frame.ts'
import { markup, type Html, type Piece } from './html.ts'
import { headPath, versionLink } from './links.ts'
import { designCard, reviewCard, whyCard } from './notes.ts'
import { moment } from './prose.ts'
import { objectAt, textAt } from './read.ts'
import { resultCard } from './result.ts'
import { rowData } from './row-json.ts'
import { setupCard } from './setup.ts'
import { isServed, madeRelease, ORIGINS, statusOf } from './status.ts'
import type { CatalogRow, VersionView } from './view.ts'

export function versionPage(view: VersionView): string {
  const { releases, row, place, before, carried, scenario } = view
  const { metrics } = row
  return documentOf({
    title: `Harness v${place}`,
    section: 'Versions',
    scenario,
    home: headPath(view, place),
    eyebrow: originOf(row),
    subtitle: subtitleOf(view),
    status: statusOf(releases, row),
    below: walkOf(view),
    main: [
      whyCard(view, row),
      designCard(metrics),
      changesCard('What changed', view, row, before),
      reviewCard(metrics),
      resultCard(releases, row, isServed(releases, place)),
      setupCard(metrics, carried),
      chainCard(view, place, row),
    ],
    data: rowData(row),
  })
}

function originOf({ operation, metrics }: CatalogRow): string {
  if (textAt(objectAt(metrics, 'training_request'), 'id') !== null) return 'Asked for by a person'
  return textAt(objectAt(metrics, 'proposal'), 'id') === null ? ORIGINS[operation] : 'Proposed by an agent'
}

function subtitleOf({ releases, row, place }: VersionView): Piece {
  const ran = madeRelease(row) ? 'Release' : 'Ran on release'
  return markup`<span>${ran} <code>${row.release_id}</code></span>
    ${isServed(releases, place) && markup`<span class="chip">Currently served</span>`} ${moment(row.recorded_at)}`
}

function walkOf(view: VersionView): Html {
  const { place, last } = view
  const before = place === 0 ? markup`<span>Previous</span>` : versionLink(view, place - 1, markup`Previous <b>v${place - 1}</b>`)
  const after = place === last ? markup`<span>Next</span>` : versionLink(view, place + 1, markup`Next <b>v${place + 1}</b>`)
  return markup`<nav class="walk" aria-label="Steps">${before}<span>v${place} of v${last}</span>${after}</nav>`
}
