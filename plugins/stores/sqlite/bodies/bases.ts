/** Bodies that later ones may refer to, in the writer's memory: found by what a body begins with, by its session, or by its scenario. */

export interface BaseBody {
  readonly age: number
  readonly keys: readonly string[]
  /** What it takes in the database, or is thought to take once it is compressed. */
  readonly storedBytes: number
  /** What the bodies that refer to it take together. */
  spentBytes: number
  /** The original, once a body refers to it; null while only the database has it. */
  bytes: Uint8Array | null
}

const BASES_MAX = 1024
/** Of originals. The longest unused ones are dropped first and read again when needed. */
const CACHED_BYTES_MAX = 32 * 1024 * 1024

export class Bases {
  /** The longest unused first. */
  readonly #bases = new Map<number, BaseBody>()
  readonly #byKey = new Map<string, BaseBody>()
  #cachedBytes = 0

  get(age: number): BaseBody | undefined {
    return this.#bases.get(age)
  }

  /** The newest base that has the key. */
  find(key: string): BaseBody | undefined {
    return this.#byKey.get(key)
  }

  /** Of one that is known already, the keys and the size change. */
  add(age: number, keys: readonly string[], storedBytes: number): void {
    const spentBytes = this.#bases.get(age)?.spentBytes ?? 0
    this.remove(age)
    const base: BaseBody = { age, keys, storedBytes, spentBytes, bytes: null }
    this.#bases.set(age, base)
    for (const key of keys) this.#byKey.set(key, base)
    for (const [oldest] of this.#bases) {
      if (this.#bases.size <= BASES_MAX) break
      this.remove(oldest)
    }
  }

  /** Marks it used and holds its original, at the cost of those that were not used for longest. */
  use(base: BaseBody, bytes: Uint8Array): void {
    this.#bases.delete(base.age)
    this.#bases.set(base.age, base)
    this.#cachedBytes += bytes.byteLength - (base.bytes?.byteLength ?? 0)
    base.bytes = bytes
    for (const other of this.#bases.values()) {
      if (this.#cachedBytes <= CACHED_BYTES_MAX || other === base) break
      this.#cachedBytes -= other.bytes?.byteLength ?? 0
      other.bytes = null
    }
  }

  remove(age: number): void {
    const base = this.#bases.get(age)
    if (base === undefined) return
    this.#bases.delete(age)
    this.#cachedBytes -= base.bytes?.byteLength ?? 0
    for (const key of base.keys) if (this.#byKey.get(key) === base) this.#byKey.delete(key)
  }

  /** After a rollback a base may not be in the database. */
  forget(): void {
    this.#bases.clear()
    this.#byKey.clear()
    this.#cachedBytes = 0
  }
}
