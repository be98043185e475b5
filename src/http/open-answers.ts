/** The answers of a server that their clients do not have yet, or not all of. */
import type { ServerResponse } from 'node:http'

export class OpenAnswers {
  readonly #open = new Set<ServerResponse>()

  note(response: ServerResponse): void {
    this.#open.add(response)
    response.once('close', () => this.#open.delete(response))
  }

  /** Whether one is over here, and some of it still on its way. */
  get isSending(): boolean {
    return [...this.#open].some(({ writableEnded, writableFinished }) => writableEnded && !writableFinished)
  }
}
