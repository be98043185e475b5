/** How far a target was told of each scenario. The rows are the queue: a position is only moved, and kept, after a delivery. */
import { readFile } from 'node:fs/promises'
import { isObject } from '../contract/index.ts'
import { isMissing, writeAtomicFile } from '../kit/index.ts'

export class Positions {
  readonly #file: string | null
  readonly #steps: Map<string, number>

  private constructor(file: string | null, steps: Map<string, number>) {
    this.#file = file
    this.#steps = steps
  }

  /** `begin` says where every scenario stands, for a target that is new: it is not told of what was before it. No file: kept in memory alone. */
  static async open(file: string | null, begin: () => Promise<Map<string, number>>): Promise<Positions> {
    const kept = file === null ? null : await readSteps(file)
    if (kept !== null) return new Positions(file, kept)
    const positions = new Positions(file, await begin())
    await positions.keep()
    return positions
  }

  /** The step that was told last; 0, the creation, for a scenario that is new. */
  of(scenario: string): number {
    return this.#steps.get(scenario) ?? 0
  }

  move(scenario: string, step: number): void {
    this.#steps.set(scenario, step)
  }

  forget(scenario: string): void {
    this.#steps.delete(scenario)
  }

  async keep(): Promise<void> {
    if (this.#file !== null) await writeAtomicFile(this.#file, JSON.stringify(Object.fromEntries(this.#steps)), 0o600)
  }
}

/** Null where there is none. A broken file is reported: to begin anew would leave events out. */
async function readSteps(file: string): Promise<Map<string, number> | null> {
  try {
    const steps: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (!isObject(steps)) throw new Error('it holds no positions')
    return new Map(Object.entries(steps).flatMap(([name, step]) => (typeof step === 'number' ? [[name, step]] : [])))
  } catch (error) {
    if (isMissing(error)) return null
    throw new Error(`${file} cannot be read; restore it, or remove it to begin with the next event`, { cause: error })
  }
}
