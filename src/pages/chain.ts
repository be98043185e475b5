/** The card of a version's place in the chain: its parent, itself, and the versions made from it. */
import { formatted, madeRelease, statusOf } from '../presentation/index.ts'
import { card } from './frame.ts'
import { markup, type Html, type Piece } from './html.ts'
import { versionLink } from './links.ts'
import { placeOf, rowsIn, servedPlace } from './places.ts'
import { code } from './prose.ts'
import type { PageRow, PageView, ReleasePlaces } from './view.ts'

const CHILDREN_MAX = 20

export function chainCard(view: PageView, place: number, row: PageRow): Html {
  const { releases } = view
  const isMade = madeRelease(row)
  const parent = isMade ? row.parent_release_id : row.release_id
  const children = isMade ? placesWhere(releases, (other) => other.parent_release_id === row.release_id) : []
  const again = placesWhere(releases, (other) => other.rollback_target_release_id === row.release_id && isMade)
  const copied = row.rollback_target_release_id
  return card(
    'Chain',
    markup`<ul class="chain">
      ${parent !== null && link(view, isMade ? 'Parent' : 'Ran on', parent)}${copied !== undefined && link(view, 'Content of', copied)}
      <li class="this">
        <span>This version</span> <b>v${place}</b> ${code(isMade ? row.release_id : 'no release')}
        <span class="cut">${statusOf(rowsIn(releases), row).word}</span>
      </li>
      ${group(view, 'Child', children)}${group(view, 'Published again as', again)}
    </ul>`,
  )
}

const placesWhere = (releases: ReleasePlaces, isMeant: (row: PageRow) => boolean): readonly number[] =>
  [...releases].flatMap(([place, row]) => (isMeant(row) ? [place] : []))

function link(view: PageView, label: string, releaseId: string): Html {
  const place = placeOf(view.releases, releaseId)
  return place === undefined
    ? markup`<li><span>${label}</span> ${code(releaseId)} <span class="cut">outside of this scenario</span></li>`
    : version(view, label, place)
}

function version(view: PageView, label: string, place: number): Html {
  const { releases } = view
  const row = releases.get(place)
  if (row === undefined) return markup``
  return markup`<li>
    <span>${label}</span> ${versionLink(view, place, `v${place}`)} ${code(row.release_id)}
    <span class="cut">${statusOf(rowsIn(releases), row).word}${servedPlace(releases) === place && ', currently served'}</span>
  </li>`
}

function group(view: PageView, label: string, places: readonly number[]): Piece {
  const more = places.length - CHILDREN_MAX
  return [
    places.slice(0, CHILDREN_MAX).map((place) => version(view, label, place)),
    more > 0 && markup`<li class="cut">and ${formatted(more)} more</li>`,
  ]
}
