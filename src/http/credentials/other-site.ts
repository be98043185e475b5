/** Requests with the cookie of a sign-in, which browsers also send for pages of others. */
import type { IncomingHttpHeaders } from 'node:http'
import { unauthorized } from '../../contract/index.ts'

/** Lets through what a page of this service asks, and reading by following a link. Every browser says with a change where it comes from. */
export function refuseOtherSite(method: string, headers: IncomingHttpHeaders, ownOrigin: string): void {
  const { origin, 'sec-fetch-site': site } = headers
  const isReading = method === 'GET' || method === 'HEAD'
  const isOwn = origin === undefined ? site === 'same-origin' : origin === ownOrigin && (site ?? 'same-origin') === 'same-origin'
  if (isOwn || (isReading && origin === undefined && isOpened(headers))) return
  throw unauthorized('a person who signed in acts through the pages of this service alone; open its console, or use a token')
}

/** By a link, an address that was typed, or a program that is no browser. */
function isOpened({
  'sec-fetch-site': site = 'none',
  'sec-fetch-mode': mode,
  'sec-fetch-dest': destination,
}: IncomingHttpHeaders): boolean {
  return site === 'none' || (mode === 'navigate' && destination === 'document')
}
