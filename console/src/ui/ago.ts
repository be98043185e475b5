/** Moments in words. */

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Both in seconds since the epoch. A clock that is a little off puts nothing into the future. */
export function agoOf(at: number, now: number): string {
  const seconds = Math.max(0, Math.floor(now - at))
  if (seconds < 5) return 'just now'
  if (seconds < MINUTE) return `${seconds} s ago`
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h ago`
  const days = Math.floor(seconds / DAY)
  return days === 1 ? 'yesterday' : `${days} days ago`
}

/** With its day once that is another, in as much room as a time needs. What is no moment at all is said to be none. */
export function clockOf(at: number, now: number): string {
  const [moment, today] = [new Date(at * 1000), new Date(now * 1000)]
  if (Number.isNaN(moment.getTime())) return 'no time'
  if (moment.toDateString() === today.toDateString()) return moment.toLocaleTimeString('en-GB')
  if (moment.getFullYear() !== today.getFullYear())
    return moment.toLocaleDateString('en-GB', { year: 'numeric', month: 'short', day: 'numeric' })
  return moment.toLocaleString('en-GB', { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' }).replace(',', '')
}

export const isoOf = (at: number): string => {
  const moment = new Date(at * 1000)
  return Number.isNaN(moment.getTime()) ? '' : moment.toISOString()
}
