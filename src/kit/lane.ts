/** One thing at a time, in the order asked. The only lock in the service. */
export class Lane {
  #tail: Promise<unknown> = Promise.resolve()

  run<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(task)
    this.#tail = turn.catch(() => undefined)
    return turn
  }
}

/** Runs one task at a time per name, in order. A name without waiting tasks uses no memory. */
export class LaneByName {
  readonly #lanes = new Map<string, { readonly lane: Lane; waiting: number }>()

  async run<T>(name: string, task: () => Promise<T>): Promise<T> {
    const turns = this.#lanes.get(name) ?? { lane: new Lane(), waiting: 0 }
    this.#lanes.set(name, turns)
    turns.waiting += 1
    try {
      return await turns.lane.run(task)
    } finally {
      turns.waiting -= 1
      if (turns.waiting === 0) this.#lanes.delete(name)
    }
  }
}
