/** Redacts payloads: short ones here, long ones in a thread, and none of them is stored when that fails. */
import { INLINE_BODY_BYTES_MAX, isObject, unavailable, type Json, type JsonObject, type Redactor } from '../contract/index.ts'
import { within } from '../kit/index.ts'
import { redactPayload } from './redact.ts'
import { RedactorThread, type RedactorSource } from './redactor-threads.ts'

/** Far more than the longest body needs. */
const SECONDS_MAX = 60

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

  constructor(parts: RedactionParts) {
    this.#parts = parts
  }

  /** Loaded once, when it is first needed. */
  load(): Promise<Redactor> {
    this.#redactor ??= this.#parts.load()
    return this.#redactor
  }

  async payload(payload: Buffer): Promise<Buffer> {
    try {
      if (payload.byteLength > INLINE_BODY_BYTES_MAX) return await this.#inThread(payload)
      const text = payload.toString()
      const redacted = redactPayload(text, await this.load())
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
  async #inThread(payload: Buffer): Promise<Buffer> {
    const { entry, source } = this.#parts.thread
    const thread = this.#thread?.isOver === false ? this.#thread : new RedactorThread(entry, source)
    this.#thread = thread
    try {
      return await within(SECONDS_MAX, thread.redact(payload))
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
