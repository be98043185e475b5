/** Changes in their order, of which those of records are told together. */
import type { RequestType, StoreChange } from '../../../../src/contract/index.ts'

export class Changes {
  #list: StoreChange[] = []
  /** The types of the appended change that is the latest of its scenario: later records are told with it. */
  readonly #appending = new Map<string, Set<RequestType>>()

  appended(scenario: string, type: RequestType): void {
    const types = this.#appending.get(scenario)
    if (types === undefined) this.#appending.set(scenario, new Set([type]))
    else types.add(type)
  }

  add(change: StoreChange): void {
    if (change.kind !== 'tokens') this.#end(change.scenario)
    this.#list.push(change)
  }

  /** All of them; the next ones begin anew. */
  take(): readonly StoreChange[] {
    for (const scenario of this.#appending.keys()) this.#end(scenario)
    const taken = this.#list
    this.#list = []
    return taken
  }

  #end(scenario: string): void {
    const types = this.#appending.get(scenario)
    if (types === undefined) return
    this.#appending.delete(scenario)
    this.#list.push({ kind: 'appended', scenario, types: [...types] })
  }
}
