/** The most that a model call may take, as it is known before the call is sent. */
import { isObject } from '../../contract/index.ts'
import { parsed, type DialectSpec } from '../../dialects/index.ts'
import type { TokenCounter, TokenCounts } from '../../kit/index.ts'

/** Of an answer whose call does not bound it; that of a sandbox is the same. */
export const OUTPUT_UNBOUNDED = 32_768

export interface CallBound {
  /** No text has more tokens than bytes. */
  readonly input: number
  readonly output: number
  /** Whether the call itself bounds its answer. */
  readonly isBounded: boolean
  /** As it is configured; null where the answer will name it. */
  readonly model: string | null
}

/** What of a call is known before it is sent. `bytes` of the whole body, also where it is not at hand. */
export interface AskedCall {
  readonly dialect: DialectSpec
  readonly model: string | null
  readonly body: Buffer | null
  readonly bytes: number
}

/** A larger body is not kept to be compared with the next. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024

/** The bounds of the calls of one episode: each goes on where the one before ended, and that one was counted. */
export class EpisodeBounds {
  #last: { readonly body: Buffer; readonly input: number } | null = null

  of({ dialect, model, body, bytes }: AskedCall): CallBound {
    const asked = body === null ? null : parsed(body.toString('utf8'))
    const request = isObject(asked) ? asked : {}
    const answers = answersIn(request)
    const most = Number(dialect.settingsIn(request).maxTokens)
    const isBounded = Number.isFinite(most) && most > 0
    return {
      input: body === null ? bytes : this.#inputOf(body),
      output: answers * (isBounded ? Math.ceil(most) : OUTPUT_UNBOUNDED),
      isBounded,
      model,
    }
  }

  /** A call was answered, and its question counted. */
  counted(body: Buffer | null, input: number): void {
    if (body !== null && body.length <= KEPT_BYTES_MAX) this.#last = { body, input }
  }

  /** What both have in common takes no more tokens than the whole of the last one did. */
  #inputOf(body: Buffer): number {
    if (this.#last === null) return body.length
    return Math.min(body.length, this.#last.input + body.length - sharedBytes(this.#last.body, body))
  }
}

/** A request may ask for several answers, each of which may be as long. */
function answersIn(request: Readonly<Record<string, unknown>>): number {
  const configs = [request['generationConfig'], request['generation_config']].map(Object)
  const counts = [request['n'], ...configs.flatMap((config) => [config['candidateCount'], config['candidate_count']])]
  // What is no count hides no other one: a provider may not know the member.
  return Math.max(1, ...counts.map(Number).filter(Number.isInteger))
}

function sharedBytes(one: Buffer, other: Buffer): number {
  let [least, most] = [0, Math.min(one.length, other.length)]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (one.compare(other, least, middle, least, middle) === 0) least = middle
    else most = middle - 1
  }
  return least
}

/** How a call ended: `broken` off after it was sent, so that nobody says what it took. */
export type CallEnd = 'whole' | 'broken'

/** What counts for a call that was sent: as its answer says, where it does; else the most that it may have taken. */
export function usedWithin(bound: CallBound, counter: Pick<TokenCounter, 'counts' | 'says' | 'answeredBytes'>, end: CallEnd): TokenCounts {
  const { input, cached, output } = counter.counts()
  const { says } = counter
  const unsaid = bound.isBounded ? Math.min(bound.output, counter.answeredBytes) : counter.answeredBytes
  return {
    input: says.input ? input : bound.input,
    cached,
    output: end === 'broken' ? Math.max(bound.output, says.output ? output : 0) : says.output ? output : unsaid,
  }
}
