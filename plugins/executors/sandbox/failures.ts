/** Which model answered an episode, and whether it ended because none did. What an agent causes by its own calls is not among the failures. */

/** Statuses that say nothing about the call: the key, the money, the load or the provider itself. Others are what the call asked for. */
const isProviders = (status: number): boolean => [401, 402, 408, 409, 425, 429].includes(status) || status >= 500

/** A stream that says that it failed. No line of a stream begins with words of the model. */
const ERROR = /\n(?:event: ?error\b|data: ?\{"(?:error"|type": ?"(?:error|response\.failed)"))/
const LONGEST_ERROR = 48

/** How an answer names its model. The first counts, since later ones may be the model's own words, and near the beginning all formats have it. */
const NAME = /"model": ?"([^"\\]{1,100})"/
const FINGERPRINT = /"system_fingerprint": ?"([^"\\]{1,100})"/
const NAMES_BYTES = 4096

/** Of an episode whose time is up: a call that waited this much of it without a word from the model used it up. */
const WAITED_PART_MIN = 1 / 2

export interface ModelCall {
  /** A part of its answer. */
  read(part: Buffer): void
  /** The answer is whole. */
  answered(status: number): void
  failed(words: string): void
  /** Whatever became of it. */
  end(): void
}

export class ModelCalls {
  readonly #waiting = new Set<{ readonly since: number }>()
  #failure: string | null = null
  #answeredBy: string | null = null
  readonly #now: () => number

  /** In milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  begin(): ModelCall {
    const waiting = { since: this.#now() }
    this.#waiting.add(waiting)
    let isError = false
    let tail = '\n'
    let head = ''
    return {
      read: (part) => {
        this.#waiting.delete(waiting)
        const text = tail + part.toString('latin1')
        isError ||= ERROR.test(text)
        tail = text.slice(-LONGEST_ERROR)
        if (head.length < NAMES_BYTES) head += part.toString('latin1')
      },
      answered: (status) => {
        this.#answeredBy = namesIn(head.slice(0, NAMES_BYTES)) ?? this.#answeredBy
        this.#failure = isProviders(status) ? `it answered with status ${status}` : isError ? 'its stream ended in an error' : null
      },
      failed: (words) => void (this.#failure = words),
      end: () => void this.#waiting.delete(waiting),
    }
  }

  /** Null where no answer named its model. */
  get answeredBy(): string | null {
    return this.#answeredBy
  }

  /** Null where a later call had an answer: the agent went on. */
  failure(seconds: number | null): string | null {
    const longest = Math.max(0, ...[...this.#waiting].map(({ since }) => (this.#now() - since) / 1000))
    if (seconds !== null && longest > seconds * WAITED_PART_MIN) return `it gave no word for ${Math.round(longest)} seconds`
    return this.#failure
  }
}

function namesIn(head: string): string | null {
  const names = [NAME, FINGERPRINT].flatMap((name) => name.exec(head)?.[1] ?? [])
  return names.length === 0 ? null : names.join(' ')
}
