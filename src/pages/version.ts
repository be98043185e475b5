/** The page of one step: why it was taken, what it changed, its result, and its place in the chain. */
import { changesCard } from './changes.ts'
import { chainCard } from './chain.ts'
import { documentOf } from './frame.ts'
import { markup, type Html } from './html.ts'
import { headPath, versionLink } from './links.ts'
import { designCard, reviewCard, setupCard, whyCard } from './notes.ts'
import { servedPlace, shownStep } from './places.ts'
import { moment } from './prose.ts'
import { resultCard } from './result.ts'
import { rowData } from './row-json.ts'
import type { VersionView } from './view.ts'

export function versionPage(view: VersionView): string {
  const { releases, row, place, before, scenario } = view
  const step = shownStep(view, row)
  const isServed = servedPlace(releases) === place
  return documentOf({
    title: `Harness v${place}`,
    section: 'Versions',
    scenario,
    home: headPath(view, place),
    eyebrow: step.reason.origin,
    subtitle: markup`<span>${step.madeRelease ? 'Release' : 'Ran on release'} <code>${row.release_id}</code></span>
      ${isServed && markup`<span class="chip">Currently served</span>`} ${moment(row.recorded_at)}`,
    status: step.status,
    below: walkOf(view),
    main: [
      whyCard(view, step.reason),
      designCard(step.design),
      changesCard('What changed', view, row, before),
      reviewCard(step.review),
      resultCard(step, isServed),
      setupCard(step.setup),
      chainCard(view, place, row),
    ],
    data: rowData(row),
  })
}

function walkOf(view: VersionView): Html {
  const { place, last } = view
  const before = place === 0 ? markup`<span>Previous</span>` : versionLink(view, place - 1, markup`Previous <b>v${place - 1}</b>`)
  const after = place === last ? markup`<span>Next</span>` : versionLink(view, place + 1, markup`Next <b>v${place + 1}</b>`)
  return markup`<nav class="walk" aria-label="Steps">${before}<span>v${place} of v${last}</span>${after}</nav>`
}
