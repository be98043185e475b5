/** Wrong tokens by the address that they came from: beyond a number of them in a minute, tokens that were not accepted before are judged slowly. */
import { setTimeout as sleep } from 'node:timers/promises'
import { WRONG_TOKENS_PER_MINUTE, limited } from '../../contract/index.ts'

const MINUTE_MS = 60_000
const SLOWED_MS = 5000
/** How many of one address wait at once. Further ones are refused unjudged. */
const WAITING_MAX = 8
const ADDRESSES_MAX = 10_000

interface Guesser {
  count: number
  waiting: number
  endMs: number
}

export class WrongTokens {
  readonly #guessers = new Map<string, Guesser>()
  readonly #now: () => number
  readonly #sleep: (ms: number) => Promise<unknown>

  constructor(
    now: () => number = () => performance.now(),
    sleepMs: (ms: number) => Promise<unknown> = (ms) => sleep(ms, undefined, { ref: false }),
  ) {
    this.#now = now
    this.#sleep = sleepMs
  }

  /** Whether no wrong token came. */
  get isQuiet(): boolean {
    return this.#guessers.size === 0
  }

  note(address: string): void {
    const from = networkOf(address)
    const known = this.#guessers.get(from)
    if (known !== undefined && (this.#now() < known.endMs || known.waiting > 0)) {
      known.count += 1
      return
    }
    this.#guessers.delete(from)
    this.#forgetOne()
    this.#guessers.set(from, { count: 1, waiting: 0, endMs: this.#now() + MINUTE_MS })
  }

  /** Null where the address gave no reason to wait. A right token waits as long as a wrong one: otherwise the wait would tell which it is. */
  slowed(address: string): Promise<void> | null {
    const guesser = this.#guessers.get(networkOf(address))
    if (guesser === undefined || guesser.count < WRONG_TOKENS_PER_MINUTE || (this.#now() >= guesser.endMs && guesser.waiting === 0))
      return null
    if (guesser.waiting >= WAITING_MAX)
      throw limited(
        'wrong_tokens',
        'too many wrong tokens came from this address; wait a minute, then send one that is right',
        MINUTE_MS / 1000,
      )
    return this.#wait(guesser)
  }

  async #wait(guesser: Guesser): Promise<void> {
    guesser.waiting += 1
    try {
      await this.#sleep(SLOWED_MS)
    } finally {
      guesser.waiting -= 1
    }
  }

  #forgetOne(): void {
    if (this.#guessers.size < ADDRESSES_MAX) return
    const [oldest] = this.#guessers.keys()
    if (oldest !== undefined) this.#guessers.delete(oldest)
  }
}

/** One person has the whole of a small network of IPv6. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [front = '', back] = address.split('::', 2)
  const [before, after] = [groupsOf(front), groupsOf(back ?? '')]
  const zeros = Array.from({ length: Math.max(0, GROUPS - before.length - after.length) }, () => '0')
  return [...before, ...zeros, ...after].slice(0, GROUPS / 2).join(':')
}

const GROUPS = 8
const groupsOf = (part: string): readonly string[] => part.split(':').filter((group) => group !== '')
