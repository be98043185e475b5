/** How far a target was told of each scenario. The rows are the queue: a position is only moved, and kept, after a delivery. */
import { readFile } from 'node:fs/promises'
import { isObject, type Commit } from '../contract/index.ts'
import { isMissing, writeAtomicFile } from '../kit/index.ts'

/** The row that was told last. Its time tells it from the row of another scenario that had or has the same name. */
export type ToldPosition = Pick<Commit, 'step' | 'recorded_at'>

export class Positions {
  readonly #file: string | null
  readonly #told: Map<string, ToldPosition>

  private constructor(file: string | null, told: Map<string, ToldPosition>) {
    this.#file = file
    this.#told = told
  }

  /** `begin` says where every scenario stands, for a target that is new: it is not told of what was before it. No file: kept in memory alone. */
  static async open(file: string | null, begin: () => Promise<Map<string, ToldPosition>>): Promise<Positions> {
    const kept = file === null ? null : await readPositions(file)
    if (kept !== null) return new Positions(file, kept)
    const positions = new Positions(file, await begin())
    await positions.keep()
    return positions
  }

  /** Null for a scenario that is new. */
  of(scenario: string): ToldPosition | null {
    return this.#told.get(scenario) ?? null
  }

  move(scenario: string, { step, recorded_at }: ToldPosition): void {
    this.#told.set(scenario, { step, recorded_at })
  }

  forget(scenario: string): void {
    this.#told.delete(scenario)
  }

  async keep(): Promise<void> {
    if (this.#file !== null) await writeAtomicFile(this.#file, JSON.stringify(Object.fromEntries(this.#told)), 0o600)
  }
}

/** Null where there is none. A broken file is reported: to begin anew would leave events out. */
async function readPositions(file: string): Promise<Map<string, ToldPosition> | null> {
  try {
    const kept: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (!isObject(kept)) throw new Error('it holds no positions')
    return new Map(Object.entries(kept).map(([name, position]) => [name, readPosition(position)]))
  } catch (error) {
    if (isMissing(error)) return null
    throw new Error(`${file} cannot be read; restore it, or remove it to begin with the next event`, { cause: error })
  }
}

function readPosition(position: unknown): ToldPosition {
  const { step, recorded_at } = isObject(position) ? position : {}
  if (typeof step !== 'number' || typeof recorded_at !== 'number') throw new Error('it holds no position of a scenario')
  return { step, recorded_at }
}
