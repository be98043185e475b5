/** One thing at a time, in the order asked. The only lock in the house. */
export class Lane {
  #tail: Promise<unknown> = Promise.resolve()

  run<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(task)
    this.#tail = turn.catch(() => undefined)
    return turn
  }
}
