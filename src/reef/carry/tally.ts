/** What was there, what is here now, and what could not be carried over, in lines for people and for programs. */

const LINES_PER_KIND_MAX = 10

export interface Counts {
  readonly inference: number
  readonly report: number
  readonly train: number
  readonly steps: number
  readonly releases: number
  readonly consumed: number
}

export interface ScenarioTally {
  readonly scenario: string
  /** Under which name it is here. */
  readonly imported_as: string
  readonly source: Counts
  readonly destination: Counts
}

/** A problem is something that was not carried over; a note is something to know. */
export interface Remark {
  readonly scenario: string | null
  readonly kind: 'problem' | 'note'
  readonly text: string
}

export class Remarks {
  readonly #lines: Remark[] = []
  readonly #counts = new Map<string, number>()

  /** `about` groups what is alike: of more than a few the rest is counted. */
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
