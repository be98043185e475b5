/** How far a target was told of each scenario. The rows are the queue: a position is only moved, and kept, after a delivery. */
import { isObject, type Commit, type Documents } from '../contract/index.ts'

/** The row that was told last. Its time tells it from the row of another scenario that had or has the same name. */
export type ToldPosition = Pick<Commit, 'step' | 'recorded_at'>

export class Positions {
  readonly #documents: Documents | null
  readonly #path: string
  readonly #told: Map<string, ToldPosition>

  private constructor(documents: Documents | null, path: string, told: Map<string, ToldPosition>) {
    this.#documents = documents
    this.#path = path
    this.#told = told
  }

  /**
   * `begin` says where every scenario stands, for a target that is new: it is not told of what was before it. Of two services that begin
   * at once the first one counts. No documents: kept in memory alone.
   */
  static async open(documents: Documents | null, path: string, begin: () => Promise<Map<string, ToldPosition>>): Promise<Positions> {
    const kept = await readPositions(documents, path)
    if (kept !== null) return new Positions(documents, path, kept)
    const begun = await begin()
    const isFirst = (await documents?.write(path, textOf(begun), null)) ?? true
    return new Positions(documents, path, isFirst ? begun : ((await readPositions(documents, path)) ?? begun))
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
    await this.#documents?.write(this.#path, textOf(this.#told))
  }
}

const textOf = (told: ReadonlyMap<string, ToldPosition>): string => JSON.stringify(Object.fromEntries(told))

/** Null where there is none. A broken one is reported: to begin anew would leave events out. */
async function readPositions(documents: Documents | null, path: string): Promise<Map<string, ToldPosition> | null> {
  const bytes = await documents?.read(path)
  if (bytes == null) return null
  try {
    const kept: unknown = JSON.parse(Buffer.from(bytes).toString())
    if (!isObject(kept)) throw new Error('it holds no positions')
    return new Map(Object.entries(kept).map(([name, position]) => [name, readPosition(position)]))
  } catch (error) {
    throw new Error(`webhooks/${path} cannot be read; restore it, or remove it to begin with the next event`, { cause: error })
  }
}

function readPosition(position: unknown): ToldPosition {
  const { step, recorded_at } = isObject(position) ? position : {}
  if (typeof step !== 'number' || typeof recorded_at !== 'number') throw new Error('it holds no position of a scenario')
  return { step, recorded_at }
}
