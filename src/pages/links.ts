/** Links of a page: to the two page routes alone, with the parameters this page was opened with. */
import { ROUTE_PREFIX } from '../contract/index.ts'
import { markup, type Html, type Piece } from './html.ts'
import { servedPlace } from './places.ts'
import type { PageView } from './view.ts'

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
