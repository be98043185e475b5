/** Time-ordered ids (UUIDv7 without dashes): 32 lower-case hex characters that sort by age. */
import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 8192
const RANDOM_BYTES_PER_ID = 8
const COUNTER_MAX = 0xfff

const pool = Buffer.alloc(POOL_BYTES)
let poolOffset = POOL_BYTES
let lastMillis = 0
let counter = 0

/** Ids of one process ascend strictly, also within a millisecond and when the clock steps back. */
export function newId(): string {
  const millis = tick()
  const random = randomHex()
  const variant = ((Number.parseInt(random.charAt(0), 16) & 0x3) | 0x8).toString(16)
  return millis.toString(16).padStart(12, '0') + '7' + counter.toString(16).padStart(3, '0') + variant + random.slice(1)
}

/** The 12 bits beside the time count within a millisecond; when they are used up the id borrows the next one. */
function tick(): number {
  const now = Date.now()
  if (now > lastMillis) {
    lastMillis = now
    counter = 0
  } else if (counter < COUNTER_MAX) {
    counter += 1
  } else {
    lastMillis += 1
    counter = 0
  }
  return lastMillis
}

function randomHex(): string {
  if (poolOffset + RANDOM_BYTES_PER_ID > POOL_BYTES) {
    randomFillSync(pool)
    poolOffset = 0
  }
  poolOffset += RANDOM_BYTES_PER_ID
  return pool.toString('hex', poolOffset - RANDOM_BYTES_PER_ID, poolOffset)
}
