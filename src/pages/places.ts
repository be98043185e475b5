/** The places of rows in the catalog: where a release was made, which one is served, what each is called, and the links to their pages. */
import { ROUTE_PREFIX } from '../contract/index.ts'
import { stepName, type StepView, stepView } from '../presentation/index.ts'
import { type Html, markup, type Piece } from './html.ts'
import type { PageRow, PageView, ReleasePlaces } from './view.ts'

/** The place of the newest row that published: what clients pull now. */
export const servedPlace = (releases: ReleasePlaces): number | undefined =>
  [...releases].findLast(([, { result, pending }]) => result === 'published' && !pending)?.[0]

/** The place of the row that made a release. */
export const placeOf = (releases: ReleasePlaces, releaseId: string): number | undefined =>
  [...releases].find(([, row]) => row.release_id === releaseId)?.[0]

export const placeOfStep = (releases: ReleasePlaces, step: number): number | undefined =>
  [...releases].find(([, row]) => row.step === step)?.[0]

export const rowsIn = (releases: ReleasePlaces): readonly PageRow[] => [...releases.values()]

export const shownStep = ({ releases, carried = [] }: Pick<PageView, 'releases' | 'carried'>, row: PageRow): StepView =>
  stepView(row, { rows: rowsIn(releases), nameOf: (each) => stepName(each, placeOf(releases, each.release_id)), carried })

export const versionLink = ({ query }: PageView, place: number, text: Piece): Html =>
  markup`<a href="${versionPath(query, place)}">${text}</a>`

const versionPath = (query: string, place: number): string => `${ROUTE_PREFIX}/harness/releases/${place}/page${query}`

export const requestLink = ({ query }: PageView, id: string, text: Piece): Html =>
  markup`<a href="${`${ROUTE_PREFIX}/harness/requests/${encodeURIComponent(id.toWellFormed())}/page${query}`}">${text}</a>`

/** The address of the served head's page; null on that page itself, and where versions have none. */
export function headPath({ query, releases }: PageView, place: number | null): string | null {
  const head = servedPlace(releases)
  return head === undefined || head === place ? null : versionPath(query, head)
}
