/** The report of an import: what the source had, what was imported, and what could not be. */
import type { RequestType } from '../../contract/index.ts'

const LINES_PER_KIND_MAX = 10

export type ImportCounts = Readonly<Record<RequestType | 'steps' | 'releases' | 'consumed', number>>

/** The release that the service serves once it starts. */
export interface ServedAfterImport {
  readonly step: number
  /** The id in the source; null for the seed of the recipe. */
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
  readonly served: ServedAfterImport
}

/** A problem: something could not be imported. Left out: no import has it. A note: something to know. */
export interface Remark {
  readonly scenario: string | null
  readonly kind: 'problem' | 'left_out' | 'note'
  readonly text: string
}

export class Remarks {
  readonly #lines: Remark[] = []
  readonly #counts = new Map<string, number>()

  /** `about` groups similar remarks: after a few, the rest is only counted. */
  add(kind: Remark['kind'], scenario: string | null, about: string, text: string): void {
    const key = JSON.stringify([scenario, kind, about])
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    if (count <= LINES_PER_KIND_MAX) this.#lines.push({ scenario, kind, text })
  }

  get all(): readonly Remark[] {
    const more = [...this.#counts].flatMap(([key, count]) => {
      const [scenario, kind, about]: [string | null, Remark['kind'], string] = JSON.parse(key)
      const left = count - LINES_PER_KIND_MAX
      return left > 0 ? [{ scenario, kind, text: `${about}: ${left} more like these` }] : []
    })
    return [...this.#lines, ...more]
  }
}
