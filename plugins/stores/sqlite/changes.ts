/** What a transaction changes, in order: told to followers once it is durable. */
import type { RequestType, StoreChange } from '../../../src/contract/index.ts'
import type { WireRecord } from './wire.ts'

export class Changes {
  #list: StoreChange[] = []
  /** The types of the appended change that is the latest of its scenario: later records are told with it. */
  readonly #appending = new Map<string, Set<RequestType>>()

  /** A new transaction, or another try of the same. */
  begin(): void {
    this.#list = []
    this.#appending.clear()
  }

  appended(scenario: string, records: readonly WireRecord[]): void {
    if (records.length === 0) return
    let types = this.#appending.get(scenario)
    if (types === undefined) {
      types = new Set()
      this.#appending.set(scenario, types)
    }
    for (const [, type] of records) types.add(type)
  }

  add(change: StoreChange): void {
    this.#end(change.scenario)
    this.#list.push(change)
  }

  list(): readonly StoreChange[] {
    for (const scenario of this.#appending.keys()) this.#end(scenario)
    return this.#list
  }

  #end(scenario: string): void {
    const types = this.#appending.get(scenario)
    if (types === undefined) return
    this.#appending.delete(scenario)
    this.#list.push({ kind: 'appended', scenario, types: [...types] })
  }
}
