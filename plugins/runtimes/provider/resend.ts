/** Which answers let a call be sent again, and when. */

/** Refused keys and unpaid bills are the deployment's, not the caller's. */
const RESENT = new Set([401, 402, 408, 429])
const REST_SECONDS_DEFAULT = 5
const REST_SECONDS_MAX = 3600

/** The client is told of these, where it was its own key. */
const OF_KEY = new Set([401, 402, 429])

/** A refusal that another upstream, or a later attempt, may not repeat. */
export const mayResend = (status: number, isClientsKey = false): boolean =>
  status >= 500 || (RESENT.has(status) && !(isClientsKey && OF_KEY.has(status)))

/** A rate limit is no fault of the upstream. */
export const isFault = (status: number, isClientsKey = false): boolean => mayResend(status, isClientsKey) && status !== 429

/** How long the upstream is passed over for, in seconds: as long as it asks, after a rate limit at least a while; null where it need not be. */
export function restAfter(status: number, askedSeconds: number | null, isClientsKey = false): number | null {
  if (!mayResend(status, isClientsKey)) return null
  if (askedSeconds === null) return status === 429 ? REST_SECONDS_DEFAULT : null
  return Math.min(askedSeconds, REST_SECONDS_MAX)
}

/** How long the upstream asks to be left alone for: as a number of milliseconds or seconds, or as a date. */
export function retryAfter(headers: Readonly<Record<string, string>>, nowSeconds: number): number | null {
  const milliseconds = Number.parseFloat(headers['retry-after-ms'] ?? '')
  if (milliseconds >= 0) return milliseconds / 1000
  const text = headers['retry-after'] ?? ''
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(text)) return Number.parseFloat(text)
  const date = Date.parse(text)
  return Number.isNaN(date) ? null : Math.max(0, date / 1000 - nowSeconds)
}
