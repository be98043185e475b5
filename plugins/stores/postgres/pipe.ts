/**
 * Statements that are sent one behind the other on one connection, without waiting for answers. The server runs them in their order, each as
 * a transaction of its own: what one of them fails with is not what the next one is answered.
 */
import type { PgClient, PooledClient } from './library.ts'
import { isAway } from './refusals.ts'

export class Pipe {
  readonly #connect: () => Promise<PooledClient>
  /** From the pool for as long as an answer is waited for. */
  #client: PooledClient | null = null
  #connecting: Promise<PooledClient> | null = null
  #running = 0
  #failure: Error | undefined

  constructor(connect: () => Promise<PooledClient>) {
    this.#connect = connect
  }

  async run<T>(work: (client: PgClient) => Promise<T>): Promise<T> {
    this.#running += 1
    try {
      return await work(this.#client ?? (await this.#connected()))
    } catch (error) {
      if (error instanceof Error && isAway(error)) this.#failure = error
      throw error
    } finally {
      this.#running -= 1
      if (this.#running === 0) this.#release()
    }
  }

  async #connected(): Promise<PooledClient> {
    this.#connecting ??= this.#connect()
    this.#client = await this.#connecting
    return this.#client
  }

  #release(): void {
    this.#client?.release(this.#failure)
    this.#client = null
    this.#connecting = null
    this.#failure = undefined
  }
}
