/** An index from record id to what holds the record. */
export class ByRecord<Holder> {
  readonly #holders = new Map<string, Set<Holder>>()

  add(ids: readonly string[], holder: Holder): void {
    for (const id of ids) {
      const holders = this.#holders.get(id)
      if (holders === undefined) this.#holders.set(id, new Set([holder]))
      else holders.add(holder)
    }
  }

  remove(ids: readonly string[], holder: Holder): void {
    for (const id of ids) {
      const holders = this.#holders.get(id)
      holders?.delete(holder)
      if (holders?.size === 0) this.#holders.delete(id)
    }
  }

  holding(ids: readonly string[]): ReadonlySet<Holder> {
    const found = new Set<Holder>()
    for (const id of ids) for (const holder of this.#holders.get(id) ?? []) found.add(holder)
    return found
  }
}
