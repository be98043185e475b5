/** The page of one step: why it was taken, what it changed, its result, and its place in the chain. */
import { formatted, madeRelease, releaseWord, statusOf, stepName } from '../presentation/index.ts'
import { isObject, type Json, type JsonObject } from '../contract/index.ts'
import { changesCard } from './changes.ts'
import { card, documentOf } from './frame.ts'
import { type Html, markup, type Piece, jsonMarkup } from './html.ts'
import { designCard, reviewCard, setupCard, whyCard } from './notes.ts'
import { headPath, placeOf, rowsIn, servedPlace, shownStep, versionLink } from './places.ts'
import { code, moment } from './prose.ts'
import { resultCard } from './result.ts'
import type { PageRow, PageView, ReleasePlaces, VersionView } from './view.ts'

const ROW_CHARACTERS_MAX = 256 * 1024
const TEXT_CHARACTERS_MAX = 500
const NOTE = 'the row is larger than a page should be: long texts are left out here; GET /svc/harness/releases has all of it'

export function versionPage(view: VersionView): string {
  const { releases, row, place, before, scenario } = view
  const step = shownStep(view, row)
  const isServed = servedPlace(releases) === place
  return documentOf({
    title: `Harness ${stepName(row, place)}`,
    section: 'Versions',
    scenario,
    home: headPath(view, place),
    eyebrow: step.reason.origin,
    subtitle: markup`<span>${RELEASE_WORDS[releaseWord(row)]} <code>${row.release_id}</code></span>
      ${isServed && markup`<span class="chip">Currently served</span>`} ${moment(row.recorded_at)}`,
    headline: step.headline,
    lead: step.points,
    status: step.status,
    below: walkOf(view),
    main: [
      whyCard(view, step.reason),
      designCard(step.design),
      changesCard('What changed', view, row, before, step.powers),
      reviewCard(step.review),
      resultCard(view, step, isServed),
      setupCard(step.setup),
      chainCard(view, place, row),
    ],
    data: rowData(row),
  })
}

const RELEASE_WORDS = { Release: 'Release', Rejects: 'Rejects release', About: 'About release', 'Ran on': 'Ran on release' } as const

function walkOf(view: VersionView): Html {
  const { row, place, last } = view
  const before = place === 0 ? markup`<span>Previous step</span>` : versionLink(view, place - 1, 'Previous step')
  const after = place === last ? markup`<span>Next step</span>` : versionLink(view, place + 1, 'Next step')
  return markup`<nav class="walk" aria-label="Steps">${before}<span>${stepName(row, place)}</span>${after}</nav>`
}

const CHILDREN_MAX = 20

function chainCard(view: PageView, place: number, row: PageRow): Html {
  const { releases } = view
  const isMade = madeRelease(row)
  const parent = isMade ? row.parent_release_id : row.release_id
  const children = isMade ? placesWhere(releases, (other) => madeRelease(other) && other.parent_release_id === row.release_id) : []
  const about = isMade ? placesWhere(releases, (other) => other.rollback_target_release_id === row.release_id) : []
  const isBy = (operation: PageRow['operation']) => (other: number) => releases.get(other)?.operation === operation
  const copied = row.rollback_target_release_id
  return card(
    'Chain',
    markup`<ul class="chain">
      ${parent !== null && parent !== copied && link(view, isMade ? 'Parent' : 'Ran on', parent)}${copied !== undefined && link(view, COPIED[row.operation] ?? 'Content of', copied)}
      <li class="this">
        <span>${isMade ? 'This version' : 'This step'}</span> <b>${stepName(row, place)}</b> ${code(isMade ? row.release_id : 'no release')}
        <span class="cut">${statusOf(rowsIn(releases), row).word}</span>
      </li>
      ${group(view, 'Child', children)}${group(
        view,
        'Published again as',
        about.filter((other) => !isBy('reject')(other) && !isBy('comment')(other)),
      )}${group(view, 'Rejected by', about.filter(isBy('reject')))}
    </ul>`,
  )
}

const COPIED: Readonly<Partial<Record<PageRow['operation'], string>>> = { withdraw: 'Ends', reject: 'Rejects', comment: 'About' }

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
    <span>${label}</span> ${versionLink(view, place, stepName(row, place))} ${code(row.release_id)}
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

/** The row of a version at the end of its page, as JSON for programs; of a very large one without its long texts. */
function rowData(row: PageRow): Html {
  return markup`<script type="application/json" id="row">
    ${jsonMarkup(rowJson(row))}
  <\/script>`
}

function rowJson(row: PageRow): string {
  const plain: JsonObject = Object.fromEntries(Object.entries(row))
  // Looked at before it is printed: printing takes the longer the more there is.
  if (lengthOf(plain) <= ROW_CHARACTERS_MAX) return JSON.stringify(plain)
  const brief = { left_out: NOTE, ...shortened(plain) }
  const isFitting = lengthOf(brief) <= ROW_CHARACTERS_MAX
  return JSON.stringify(isFitting ? brief : Object.fromEntries(Object.entries(brief).filter(isPlain)))
}

/** About as long as it is when printed. */
function lengthOf(value: Json): number {
  if (typeof value === 'string') return value.length
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + lengthOf(item) + 1, 0)
  return isObject(value) ? Object.entries(value).reduce((sum, [name, item]) => sum + name.length + lengthOf(item) + 4, 0) : 8
}

const shortened = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, shortenedValue(value)]))

function shortenedValue(value: Json): Json {
  if (typeof value === 'string') return value.length <= TEXT_CHARACTERS_MAX ? value : `[${value.length} characters left out]`
  if (isObject(value)) return shortened(value)
  return Array.isArray(value) ? value.map(shortenedValue) : value
}

const isPlain = ([, value]: readonly [string, Json]): boolean => typeof value !== 'object' || value === null
