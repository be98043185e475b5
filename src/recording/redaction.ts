/** Redacts payloads: short ones here, long ones in a thread, and none of them is stored when that fails. */
import { isObject, unavailable, type Json, type JsonObject, type Redactor } from '../contract/index.ts'
import { Lane, within } from '../kit/index.ts'
import { redactPayload } from './redact.ts'
import { RedactorThread, type RedactorSource } from './redactor-threads.ts'

/** Longer ones would hold up the calls of others. */
const INLINE_BYTES_MAX = 16 * 1024
/** Far more than a body of that length needs. */
const SECONDS_LEAST = 20
const SECONDS_PER_MIB = 5

const MIB = 1024 * 1024

interface RedactionParts {
  /** Loads the configured redactor. */
  readonly load: () => Promise<Redactor>
  /** The file of the thread, and by what it loads the same redactor. */
  readonly thread: { readonly entry: URL; readonly source: RedactorSource }
}

export class Redaction {
  readonly #parts: RedactionParts
  #redactor: Promise<Redactor> | null = null
  #thread: RedactorThread | null = null
  /** One payload after the other: one that hangs, or ends the thread, fails alone. */
  readonly #lane = new Lane()

  constructor(parts: RedactionParts) {
    this.#parts = parts
  }

  /** Loaded once, when it is first needed. */
  load(): Promise<Redactor> {
    this.#redactor ??= this.#parts.load()
    return this.#redactor
  }

  /** Of an answer that broke off, nothing is kept after the last sentence that ended: it may be half of what would be taken out. */
  async payload(payload: Buffer, isBrokenOff = false): Promise<Buffer> {
    try {
      if (payload.byteLength > INLINE_BYTES_MAX) return await this.#lane.run(() => this.#inThread(payload, isBrokenOff))
      const text = payload.toString()
      const redacted = redactPayload(text, await this.load(), isBrokenOff)
      return redacted === text ? payload : Buffer.from(redacted)
    } catch (cause) {
      throw failed(cause)
    }
  }

  async object(given: JsonObject): Promise<JsonObject> {
    const redacted: Json = JSON.parse((await this.payload(Buffer.from(JSON.stringify(given)))).toString())
    return isObject(redacted) ? redacted : given
  }

  async words(text: string): Promise<string> {
    const { text: redacted } = await this.object({ text })
    return typeof redacted === 'string' ? redacted : ''
  }

  async close(): Promise<void> {
    await this.#thread?.close()
  }

  /** One that takes too long is ended, and the next payload gets a new one. */
  async #inThread(payload: Buffer, isBrokenOff: boolean): Promise<Buffer> {
    const { entry, source } = this.#parts.thread
    const thread = this.#thread?.isOver === false ? this.#thread : new RedactorThread(entry, source)
    this.#thread = thread
    try {
      return await within(SECONDS_LEAST + SECONDS_PER_MIB * (payload.byteLength / MIB), thread.redact(payload, isBrokenOff))
    } catch (error) {
      await thread.close()
      throw error
    }
  }
}

const failed = (cause: unknown): Error =>
  unavailable(
    'redaction_failed',
    'personal data could not be taken out of this record, so nothing of it was stored; the log has the cause',
    {
      cause,
    },
  )
