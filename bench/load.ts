/** Controls the load generator's process, which is started once and stays warm. */

import { type ChildProcess, fork } from 'node:child_process'
import { isResultOf, type Job, type ResultOf } from './jobs.ts'

export class LoadGenerator {
  readonly #child: ChildProcess = fork(new URL('./generator.ts', import.meta.url), { execArgv: [] })
  /** The running job; there is no queue. */
  #asked: PromiseWithResolvers<unknown> | undefined

  constructor() {
    this.#child.on('message', (message) => this.#asked?.resolve(message))
    this.#child.on('exit', () => this.#asked?.reject(new Error('the load generator died')))
  }

  async run<Asked extends Job>(job: Asked): Promise<ResultOf<Asked>> {
    this.#asked = Promise.withResolvers<unknown>()
    this.#child.send(job)
    const result = await this.#asked.promise
    if (!isResultOf(job, result)) throw new Error('the load generator answered something else')
    return result
  }

  stop(): void {
    this.#child.disconnect()
  }
}
