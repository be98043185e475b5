/** Cells of numbers, one for each key, in memory that all threads of a service share. A cell is changed by one thread at a time. */
import { hash, randomInt } from 'node:crypto'

/** A key is looked for in so many neighbouring cells. */
const PROBES = 32
/** A lock is held for less than a microsecond, unless the machine put its thread aside: then waiting lets it go on. */
const SPINS_MAX = 1000
const WAIT_MS = 1
/** Beyond this its thread was ended, and the lock counts as free: better a miscount than a standstill. */
const HELD_MS_MAX = 1000
const HANDLES_MAX = 100_000

/** Whole numbers of a cell: its lock, its key, how many are inside. */
const INTS = 4
const LOCK = 0
const KEY = 1
const INSIDE = 3
/** The other numbers of a cell. */
const NUMBERS = 8

export interface CellMemory {
  /** Their count is a power of two. */
  readonly ints: Int32Array
  readonly numbers: Float64Array
  /** For each thread, how many it has inside each cell: taken out when the thread ends. */
  readonly inside: Int32Array
  /** Held while a key is given a cell. */
  readonly lock: Int32Array
  /** New at every start: callers choose names, and must not choose which cells they share. */
  readonly seed: number
}

/** Where a thread counts: its slot is its own. */
export interface LimitPlace {
  readonly memory: CellMemory
  readonly slot: number
}

/** Enough for twice as many keys as are expected. Memory that is not touched is not taken. */
export function allotCells(keys: number, threads: number): CellMemory {
  const cells = 2 ** Math.ceil(Math.log2(Math.max(2 * keys, PROBES)))
  return {
    ints: new Int32Array(new SharedArrayBuffer(cells * INTS * Int32Array.BYTES_PER_ELEMENT)),
    numbers: new Float64Array(new SharedArrayBuffer(cells * NUMBERS * Float64Array.BYTES_PER_ELEMENT)),
    inside: new Int32Array(new SharedArrayBuffer(cells * threads * Int32Array.BYTES_PER_ELEMENT)),
    lock: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
    seed: randomInt(2 ** 32),
  }
}

/** How many threads count in it. */
export const threadsOf = ({ ints, inside }: CellMemory): number => inside.length / (ints.length / INTS)

/** What a key has of the memory, while its lock is held. */
export interface LimitCell {
  /** Shared by all cells: this one's begin at `at`. */
  readonly numbers: Float64Array
  readonly at: number
  /** How many are inside, in all threads. */
  readonly inside: number
}

/** Where a key was found last. It stays good for ever: a cell that was given away is looked for again. */
export interface CellHandle {
  cell: number
  readonly high: number
  readonly low: number
}

export class Cells {
  readonly #memory: CellMemory
  readonly #count: number
  readonly #slot: number
  readonly #worth: (cell: LimitCell) => number
  readonly #handles = new Map<string, CellHandle>()
  readonly #looked: { readonly numbers: Float64Array; at: number; inside: number }

  /** The cell that nobody is inside of, and that is worth least, may be given to another key. */
  constructor({ memory, slot }: LimitPlace, worth: (cell: LimitCell) => number) {
    this.#memory = memory
    this.#count = memory.ints.length / INTS
    this.#slot = slot
    this.#worth = worth
    this.#looked = { numbers: memory.numbers, at: 0, inside: 0 }
  }

  handleOf(key: string): CellHandle {
    return this.#handles.get(key) ?? this.#makeHandle(key)
  }

  /** Runs with the key's cell, alone. The work must be short, must not throw, and must not keep the cell. */
  change<T>(key: string | CellHandle, work: (cell: LimitCell) => T): T {
    const handle = typeof key === 'string' ? this.handleOf(key) : key
    for (;;) {
      const base = handle.cell * INTS
      this.#take(base)
      if (this.#holds(handle.cell, handle)) {
        const result = work(this.#cell(handle.cell))
        Atomics.store(this.#memory.ints, base + LOCK, 0)
        return result
      }
      Atomics.store(this.#memory.ints, base + LOCK, 0)
      handle.cell = this.#find(handle)
    }
  }

  /** Reads the key's cell, without its lock: a number may be a moment old. Null where it has none. */
  look<T>(key: string, read: (cell: LimitCell) => T): T | null {
    const handle = this.#handles.get(key) ?? { cell: 0, ...digitsIn(key) }
    const cell = this.#holds(handle.cell, handle) ? handle.cell : this.#known(handle)
    return cell === null ? null : read(this.#cell(cell))
  }

  /** To be called with the cell's lock. */
  enter(cell: LimitCell, by: 1 | -1): void {
    const at = cell.at / NUMBERS
    const { ints, inside } = this.#memory
    ints[at * INTS + INSIDE] = Math.max(0, (ints[at * INTS + INSIDE] ?? 0) + by)
    inside[this.#slot * this.#count + at] = (inside[this.#slot * this.#count + at] ?? 0) + by
  }

  /** Every key that has a cell, by its digits. */
  each(look: (digits: string, cell: LimitCell) => void): void {
    const { ints } = this.#memory
    for (let cell = 0; cell < this.#count; cell += 1) {
      const [high = 0, low = 0] = [ints[cell * INTS + KEY], ints[cell * INTS + KEY + 1]]
      if (low !== 0) look(digitsOf(high) + digitsOf(low), this.#cell(cell))
    }
  }

  /** Gives a key of these digits a cell, before any thread counts in it. */
  restore(digits: string, fill: (cell: LimitCell) => void): void {
    const [high, low] = [digits.slice(0, 8), digits.slice(8)].map((part) => Number.parseInt(part, 16) | 0)
    fill(this.#cell(this.#find({ cell: 0, high: high ?? 0, low: low ?? 1 })))
  }

  /** Takes those of a thread that ended out of every cell. */
  forget(slot: number): void {
    const { ints, inside } = this.#memory
    const base = slot * this.#count
    for (let cell = 0; cell < this.#count; cell += 1) {
      const held = inside[base + cell] ?? 0
      if (held === 0) continue
      this.#take(cell * INTS)
      ints[cell * INTS + INSIDE] = Math.max(0, (ints[cell * INTS + INSIDE] ?? 0) - held)
      inside[base + cell] = 0
      Atomics.store(ints, cell * INTS + LOCK, 0)
    }
  }

  #makeHandle(key: string): CellHandle {
    if (this.#handles.size >= HANDLES_MAX) this.#handles.clear()
    const wanted = { cell: 0, ...digitsIn(key) }
    const handle = { ...wanted, cell: this.#find(wanted) }
    this.#handles.set(key, handle)
    return handle
  }

  /** Finds the key's cell, or gives it one. */
  #find(handle: CellHandle): number {
    const { ints, numbers, lock } = this.#memory
    lockAt(lock, 0)
    const cell = this.#known(handle) ?? this.#free(handle)
    if (!this.#holds(cell, handle)) {
      this.#take(cell * INTS)
      ints[cell * INTS + KEY] = handle.high
      ints[cell * INTS + KEY + 1] = handle.low
      numbers.fill(0, cell * NUMBERS, (cell + 1) * NUMBERS)
      Atomics.store(ints, cell * INTS + LOCK, 0)
    }
    Atomics.store(lock, 0, 0)
    return cell
  }

  #known(handle: CellHandle): number | null {
    for (const cell of this.#near(handle)) if (this.#holds(cell, handle)) return cell
    return null
  }

  /** An unused one; else, of those that nobody is inside of, the one that is worth least, which loses its counts; else the first. */
  #free(handle: CellHandle): number {
    let found: number | null = null
    let least = Number.POSITIVE_INFINITY
    for (const cell of this.#near(handle)) {
      if (this.#memory.ints[cell * INTS + KEY + 1] === 0) return cell
      const looked = this.#cell(cell)
      const worth = looked.inside > 0 ? Number.POSITIVE_INFINITY : this.#worth(looked)
      found ??= cell
      if (worth >= least) continue
      found = cell
      least = worth
    }
    return found ?? 0
  }

  *#near(handle: CellHandle): Generator<number> {
    const first = mixed(this.#memory.seed, handle)
    for (let probe = 0; probe < PROBES; probe += 1) yield (first + probe) & (this.#count - 1)
  }

  #holds(cell: number, { high, low }: CellHandle): boolean {
    const { ints } = this.#memory
    return ints[cell * INTS + KEY] === high && ints[cell * INTS + KEY + 1] === low
  }

  /** The same object each time, since one is wanted six times a request. */
  #cell(cell: number): LimitCell {
    this.#looked.at = cell * NUMBERS
    this.#looked.inside = this.#memory.ints[cell * INTS + INSIDE] ?? 0
    return this.#looked
  }

  #take(base: number): void {
    lockAt(this.#memory.ints, base + LOCK)
  }
}

function digitsIn(key: string): Omit<CellHandle, 'cell'> {
  const digest = hash('sha256', key, 'buffer')
  // A key of zeros marks a free cell.
  return { high: digest.readInt32LE(0), low: digest.readInt32LE(4) | 1 }
}

/** All bits of the key count: no two names are neighbours under every seed. */
function mixed(seed: number, { high, low }: CellHandle): number {
  const once = Math.imul(high ^ seed, 0x85_eb_ca_6b)
  const twice = Math.imul(once ^ (once >>> 13) ^ low, 0xc2_b2_ae_35)
  return (twice ^ (twice >>> 16)) >>> 0
}

const digitsOf = (half: number): string => (half >>> 0).toString(16).padStart(8, '0')

function lockAt(ints: Int32Array, at: number): void {
  for (let spins = 0; spins < SPINS_MAX; spins += 1) if (Atomics.compareExchange(ints, at, 0, 1) === 0) return
  const end = performance.now() + HELD_MS_MAX
  do Atomics.wait(ints, at, 1, WAIT_MS)
  while (Atomics.compareExchange(ints, at, 0, 1) !== 0 && performance.now() < end)
}
