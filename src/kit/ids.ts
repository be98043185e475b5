/** Time-ordered ids (UUIDv7 without dashes): 32 lower-case hex characters that sort by age. */
import { randomBytes } from 'node:crypto'

const POOL_BYTES = 8192
const RANDOM_DIGITS = 15
const COUNTER_MAX = 0xfff
/** The two bits that say which kind of UUID this is, with two random ones below them. */
const VARIANTS = ['8', '9', 'a', 'b']

/** Random hex digits, drawn for hundreds of ids at once. */
let pool = ''
let poolOffset = 0
let lastMillis = 0
let counter = 0
/** The first twelve digits change once a millisecond, not once an id. */
let millisDigits = ''

/** Ids of one process ascend strictly, also within a millisecond and when the clock steps back. */
export function newId(): string {
  tick()
  if (poolOffset + RANDOM_DIGITS > pool.length) refill()
  const random = pool.slice(poolOffset, poolOffset + RANDOM_DIGITS)
  const variant = VARIANTS[pool.charCodeAt(poolOffset) & 3] ?? '8'
  poolOffset += RANDOM_DIGITS
  return `${millisDigits}7${(COUNTER_MAX + 1 + counter).toString(16).slice(1)}${variant}${random}`
}

/** The 12 bits beside the time count within a millisecond; when they are used up the id borrows the next one. */
function tick(): void {
  const now = Date.now()
  if (now <= lastMillis && counter < COUNTER_MAX) {
    counter += 1
    return
  }
  lastMillis = Math.max(now, lastMillis + 1)
  counter = 0
  millisDigits = lastMillis.toString(16).padStart(12, '0')
}

function refill(): void {
  pool = randomBytes(POOL_BYTES).toString('hex')
  poolOffset = 0
}
