/** Memory in which groups of payloads go to the writer: used again, since memory that is new for each group costs more than the copy into it. */

const BYTES_MIN = 64 * 1024
/** A larger one is given back to the system. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024
const KEPT_MAX = 2

export class Carriers {
  readonly #free: SharedArrayBuffer[] = []

  take(bytes: number): SharedArrayBuffer {
    const at = this.#free.findIndex(({ byteLength }) => byteLength >= bytes)
    const [found] = at < 0 ? [] : this.#free.splice(at, 1)
    return found ?? new SharedArrayBuffer(Math.max(BYTES_MIN, 2 ** Math.ceil(Math.log2(bytes))))
  }

  /** To be called once the writer has answered the group: it reads nothing of it any more. The largest are kept. */
  giveBack(carrier: SharedArrayBuffer): void {
    if (carrier.byteLength > KEPT_BYTES_MAX) return
    this.#free.push(carrier)
    this.#free.sort((one, other) => one.byteLength - other.byteLength)
    if (this.#free.length > KEPT_MAX) this.#free.shift()
  }
}
