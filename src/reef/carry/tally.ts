/** The report of an import: what the source had, what was imported, and what could not be. */
import type { RequestType } from '../../contract/index.ts'

const LINES_PER_KIND_MAX = 10

export type ImportCounts = Readonly<Record<RequestType | 'steps' | 'releases' | 'consumed', number>>

/** What the service serves once it starts. */
export interface Served {
  readonly step: number
  /** Of the source; null for the seed of the recipe. */
  readonly release_id: string | null
  /** Why a review would hold it; null when it would not, or no recipe here reviews it. */
  readonly finding: string | null
}

export interface ScenarioTally {
  readonly scenario: string
  /** The name it was imported under. */
  readonly imported_as: string
  readonly source: ImportCounts
  readonly destination: ImportCounts
  readonly served: Served
}

/** A problem: something was not imported. A note: something to know. */
export interface Remark {
  readonly scenario: string | null
  readonly kind: 'problem' | 'note'
  readonly text: string
}

export class Remarks {
  readonly #lines: Remark[] = []
  readonly #counts = new Map<string, number>()

  /** `about` groups similar remarks: after a few, the rest is only counted. */
  add(kind: Remark['kind'], scenario: string | null, about: string, text: string): void {
    const key = JSON.stringify([scenario, about])
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    if (count <= LINES_PER_KIND_MAX) this.#lines.push({ scenario, kind, text })
  }

  get all(): readonly Remark[] {
    const more = [...this.#counts].flatMap(([key, count]) => {
      const [scenario, about]: [string | null, string] = JSON.parse(key)
      const left = count - LINES_PER_KIND_MAX
      return left > 0 ? [{ scenario, kind: 'problem', text: `${about}: ${left} more like these` } as const] : []
    })
    return [...this.#lines, ...more]
  }
}
