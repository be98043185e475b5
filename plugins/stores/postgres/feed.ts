/** What followers were told of every scenario; whatever a row says beyond it is told next. */
import type { RequestType, StoreChange } from '../../../src/contract/index.ts'

/** What is known of a scenario now. What is absent is not known, and nothing is told of it. */
export interface ScenarioState {
  readonly key: number
  readonly name: string
  readonly isArchived?: boolean
  readonly step?: number
  /** Sequences. */
  readonly newest?: Readonly<Partial<Record<RequestType, number>>>
  readonly settings?: number
}

interface Told {
  readonly name: string
  step: number
  readonly newest: Record<RequestType, number>
  settings: number
}

type Follower = (change: StoreChange) => void

/**
 * Own changes and those of others come from different connections, so an older state may arrive after a newer one. Numbers only rise, so
 * every change is told in order, and one that was overtaken is told before the one that overtook it.
 */
export class ChangeFeed {
  readonly #told = new Map<number, Told>()
  readonly #keys = new Map<string, number>()
  readonly #archived = new Set<number>()
  readonly #followers = new Set<Follower>()
  #tokenChanges = 0

  follow(listener: Follower): () => void {
    const follower: Follower = (change) => listener(change)
    this.#followers.add(follower)
    return () => void this.#followers.delete(follower)
  }

  stop(): void {
    this.#followers.clear()
  }

  /** The scenario of that name that is known to be there, or was a moment ago. */
  keyOf(name: string): number | undefined {
    return this.#keys.get(name)
  }

  see(state: ScenarioState): void {
    const { key, name, isArchived = false, step, newest, settings } = state
    // A read that was overtaken may still show an earlier life of the name.
    if (this.#archived.has(key) || key < (this.#keys.get(name) ?? key)) return
    if (isArchived) return this.#archive(key, name)
    const told = this.#told.get(key) ?? this.#create(key, name)
    if (step !== undefined) while (told.step < step) this.#tell({ kind: 'landed', scenario: name, step: (told.step += 1) })
    const types = TYPES.filter((type) => (newest?.[type] ?? 0) > told.newest[type])
    for (const type of types) told.newest[type] = newest?.[type] ?? 0
    if (types.length > 0) this.#tell({ kind: 'appended', scenario: name, types })
    if (settings === undefined || settings <= told.settings) return
    told.settings = settings
    this.#tell({ kind: 'settings', scenario: name })
  }

  /** How often the tokens changed, as far as is known. */
  seeTokens(changes: number): void {
    if (changes <= this.#tokenChanges) return
    this.#tokenChanges = changes
    this.#tell({ kind: 'tokens' })
  }

  #create(key: number, name: string): Told {
    const before = this.#keys.get(name)
    if (before !== undefined) this.#archive(before, name)
    const told = { name, step: 0, newest: { inference: 0, report: 0, train: 0 }, settings: 0 }
    this.#told.set(key, told)
    this.#keys.set(name, key)
    this.#tell({ kind: 'created', scenario: name })
    return told
  }

  #archive(key: number, name: string): void {
    this.#archived.add(key)
    if (this.#keys.get(name) === key) this.#keys.delete(name)
    if (this.#told.delete(key)) this.#tell({ kind: 'archived', scenario: name })
  }

  #tell(change: StoreChange): void {
    for (const follower of this.#followers) follower(change)
  }
}

const TYPES: readonly RequestType[] = ['inference', 'report', 'train']
