/** One thing at a time for each name, in the order asked; a name nobody waits for takes no room. */
import { Lane } from '../kit/index.ts'

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
