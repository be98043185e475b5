/** Ids of proposals: when it came in nanoseconds, then chance, so that the order of names is the order of age. */
import { randomBytes } from 'node:crypto'

const TIME_DIGITS = 20
const CHANCE_BYTES = 4
const NANOSECONDS_PER_MILLISECOND = 1_000_000n

/** A file that holds the proposal named by it. Whatever else lies in an inbox is somebody else's. */
export const PROPOSAL_FILE = /^(\d{20}-[0-9a-f]{8})\.json$/

/** Younger than the newest that waits, also when the clock was set back. */
export function nextId(newest: string | undefined): string {
  const now = BigInt(Date.now()) * NANOSECONDS_PER_MILLISECOND + (process.hrtime.bigint() % NANOSECONDS_PER_MILLISECOND)
  const least = BigInt(newest?.slice(0, TIME_DIGITS) ?? 0) + 1n
  const time = now > least ? now : least
  return `${String(time).padStart(TIME_DIGITS, '0')}-${randomBytes(CHANCE_BYTES).toString('hex')}`
}
