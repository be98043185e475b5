/** The card of where a version stands: what it was made of, itself, and what was made of it. */
import { card } from './frame.ts'
import { markup, type Html, type Piece } from './html.ts'
import { versionLink } from './links.ts'
import { code, formatted } from './prose.ts'
import { isServed, madeRelease, placeOf, statusOf } from './status.ts'
import type { CatalogRow, PageView, Releases } from './view.ts'

const CHILDREN_MAX = 20

export function chainCard(view: PageView, place: number, row: CatalogRow): Html {
  const { releases } = view
  const parent = madeRelease(row) ? row.parent_release_id : row.release_id
  const children = madeRelease(row) ? placesWhere(releases, (other) => other.parent_release_id === row.release_id) : []
  const again = placesWhere(releases, (other) => other.rollback_target_release_id === row.release_id && madeRelease(row))
  const copied = row.rollback_target_release_id
  return card(
    'Chain',
    markup`<ul class="chain">
      ${parent !== null && link(view, madeRelease(row) ? 'Parent' : 'Ran on', parent)}${copied !== undefined && link(view, 'Content of', copied)}
      <li class="this">
        <span>This version</span> <b>v${place}</b> ${code(madeRelease(row) ? row.release_id : 'no release')}
        <span class="cut">${statusOf(releases, row).word}</span>
      </li>
      ${group(view, 'Child', children)}${group(view, 'Published again as', again)}
    </ul>`,
  )
}

const placesWhere = (releases: Releases, isMeant: (row: CatalogRow) => boolean): readonly number[] =>
  [...releases].flatMap(([place, row]) => (isMeant(row) ? [place] : []))

function link(view: PageView, label: string, releaseId: string): Html {
  const place = placeOf(view.releases, releaseId)
  return place === undefined
    ? markup`<li><span>${label}</span> ${code(releaseId)} <span class="cut">outside of this scenario</span></li>`
    : version(view, label, place)
}

function version(view: PageView, label: string, place: number): Html {
  const row = view.releases.get(place)
  if (row === undefined) return markup``
  return markup`<li>
    <span>${label}</span> ${versionLink(view, place, `v${place}`)} ${code(row.release_id)}
    <span class="cut">${statusOf(view.releases, row).word}${isServed(view.releases, place) && ', currently served'}</span>
  </li>`
}

function group(view: PageView, label: string, places: readonly number[]): Piece {
  const more = places.length - CHILDREN_MAX
  return [
    places.slice(0, CHILDREN_MAX).map((place) => version(view, label, place)),
    more > 0 && markup`<li class="cut">and ${formatted(more)} more</li>`,
  ]
}
