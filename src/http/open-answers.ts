/** The answers of a server that their clients do not have yet, or not all of. */
import type { ServerResponse } from 'node:http'

export class OpenAnswers {
  readonly #open = new Set<ServerResponse>()
  #areLast = false

  note(response: ServerResponse): void {
    if (this.#areLast) response.shouldKeepAlive = false
    this.#open.add(response)
    response.once('close', () => this.#open.delete(response))
  }

  /** Each is the last of its connection from here on, and says so where its headers are not sent yet. */
  beLast(): void {
    this.#areLast = true
    for (const response of this.#open) response.shouldKeepAlive = false
  }

  /** Whether one is over here, and some of it still on its way. */
  get isSending(): boolean {
    return [...this.#open].some(({ writableEnded, writableFinished }) => writableEnded && !writableFinished)
  }
}
