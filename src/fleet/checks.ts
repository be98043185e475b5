/** What came of episodes that two workers played: how often their scores differ, and whose differ too often. */

/** How unlikely it must be that a worker differs so often by chance. */
const ODD_CHANCE = 1e-6
/** Where nothing is known: plays of an agent differ by themselves. */
const DIFFERED_BEFORE = 1
const AGREED_BEFORE = 3

interface Count {
  checked: number
  differed: number
}

const NONE: Readonly<Count> = { checked: 0, differed: 0 }

export class Checks {
  /** By the one and the other, both ways. */
  readonly #pairs = new Map<string, Map<string, Count>>()

  add(one: string, other: string, agree: boolean): void {
    for (const [name, partner] of [
      [one, other],
      [other, one],
    ] as const) {
      const partners = this.#pairs.get(name) ?? new Map<string, Count>()
      const { checked, differed } = partners.get(partner) ?? NONE
      this.#pairs.set(name, partners.set(partner, { checked: checked + 1, differed: differed + (agree ? 0 : 1) }))
    }
  }

  of(name: string): Readonly<Count> {
    return sumOf([...(this.#pairs.get(name)?.values() ?? [])])
  }

  /**
   * Compared with pairs that it is no part of, so that one that differs from all makes nobody else look odd. And without the partner that it
   * differs from most: of two that differ from each other alone, nobody knows which one is wrong.
   */
  isOdd(name: string): boolean {
    const [, ...counts] = [...(this.#pairs.get(name)?.values() ?? [])].toSorted((one, other) => other.differed - one.differed)
    const own = sumOf(counts)
    if (own.differed === 0) return false
    const others = sumOf(
      [...this.#pairs].flatMap(([one, partners]) =>
        one === name ? [] : [...partners].flatMap(([other, count]) => (other === name || other < one ? [] : [count])),
      ),
    )
    const rate = (others.differed + DIFFERED_BEFORE) / (others.checked + DIFFERED_BEFORE + AGREED_BEFORE)
    return others.checked >= own.checked / 2 && atLeast(own, rate) < ODD_CHANCE
  }

  forget(name: string): void {
    this.#pairs.delete(name)
    for (const partners of this.#pairs.values()) partners.delete(name)
  }
}

const sumOf = (counts: readonly Count[]): Count => ({
  checked: counts.reduce((sum, { checked }) => sum + checked, 0),
  differed: counts.reduce((sum, { differed }) => sum + differed, 0),
})

/** The chance that so many of them differ, or more, where each does with the given chance. */
function atLeast({ checked, differed }: Count, chance: number): number {
  let term = Math.log1p(-chance) * checked
  let sum = 0
  for (let k = 0; k <= checked; k += 1) {
    if (k >= differed) sum += Math.exp(term)
    term += Math.log(((checked - k) / (k + 1)) * (chance / (1 - chance)))
  }
  return sum
}
