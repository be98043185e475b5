/** Takes informational answers (1xx) out of what a socket reads before the answer: nobody asked for them, and the HTTP client takes "100 Continue" for a broken answer. */
import type { Socket } from 'node:net'
import { UPSTREAM_HEADER_BYTES_MAX } from '../../../src/contract/index.ts'

/** All but 101, after which another protocol is spoken. */
const INFORMATIONAL = /^HTTP\/1\.[01] 1(?!01)\d\d$/
const STATUS_BYTES = 'HTTP/1.1 100'.length
const HEAD_END = '\r\n\r\n'
const NO_BYTES: Buffer = Buffer.alloc(0)

export class Interim {
  readonly #socket: Socket
  readonly #push: (bytes: Buffer) => boolean
  /** Whether the next bytes are the beginning of an answer, or of what comes before it. */
  #isAwaiting = false
  #isSkipping = false
  #held: Buffer = NO_BYTES
  #skippedBytes = 0

  constructor(socket: Socket) {
    const push = socket.push.bind(socket)
    this.#socket = socket
    this.#push = push
    socket.push = (bytes: Buffer | null): boolean => {
      if (bytes !== null) return this.#isAwaiting ? this.#take(bytes) : push(bytes)
      if (this.#held.length > 0) push(this.#held)
      return push(null)
    }
  }

  /** A request is sent: an answer is what comes next. */
  await(): void {
    this.#isAwaiting = true
    this.#isSkipping = false
    this.#held = NO_BYTES
    this.#skippedBytes = 0
  }

  #take(bytes: Buffer): boolean {
    let rest = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    for (;;) {
      if (!this.#isSkipping && rest.length < STATUS_BYTES) return this.#hold(rest)
      if (!this.#isSkipping && !INFORMATIONAL.test(rest.toString('latin1', 0, STATUS_BYTES))) return this.#end(rest)
      const end = rest.indexOf(HEAD_END)
      this.#isSkipping = end === -1
      const skipped = end === -1 ? Math.max(0, rest.length - HEAD_END.length + 1) : end + HEAD_END.length
      this.#skippedBytes += skipped
      if (this.#skippedBytes > UPSTREAM_HEADER_BYTES_MAX) return this.#refuse()
      rest = rest.subarray(skipped)
      if (this.#isSkipping) return this.#hold(rest)
    }
  }

  #hold(bytes: Buffer): boolean {
    this.#held = bytes
    return true
  }

  #end(bytes: Buffer): boolean {
    this.#isAwaiting = false
    this.#held = NO_BYTES
    return this.#push(bytes)
  }

  #refuse(): boolean {
    this.#held = NO_BYTES
    this.#socket.destroy(new Error(`it sent more than ${UPSTREAM_HEADER_BYTES_MAX} bytes of informational answers`))
    return false
  }
}
