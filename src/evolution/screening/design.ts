/**
 * Which changes an episode of the screening is played with. Every task is played twice: what the one episode has, the other has not. So the
 * same episodes tell of every change, the task's difficulty cancels out, and no episode of the served tree alone is needed.
 */
import { lotOf } from '../../kit/index.ts'

export interface SplitPair<T> {
  readonly one: ReadonlySet<T>
  readonly other: ReadonlySet<T>
}

/** Of each group one episode has a member or none, and the other another member or none, by lot. */
export function splitPair<T>(groups: readonly (readonly T[])[], seed: string): SplitPair<T> {
  const pair = { one: new Set<T>(), other: new Set<T>() }
  for (const [at, members] of groups.entries()) {
    const places = members.length + 1
    const first = lotOf(`${seed} ${at}`) % places
    const second = (first + 1 + (lotOf(`${seed} ${at} other`) % members.length)) % places
    const [mine, yours] = [members[first], members[second]]
    if (mine !== undefined) pair.one.add(mine)
    if (yours !== undefined) pair.other.add(yours)
  }
  return pair
}

/** A fit that is settled sooner is not changed by more. */
const ROUNDS = 50
/** Pulls gains that few pairs tell of towards 0. */
const CAUTION = 1

/**
 * What each change adds to the score, all of them together: the gains whose sums come closest to the differences of the pairs. So what two
 * changes that met by lot did is told apart.
 */
export class Gains<T> {
  readonly #differences: { readonly signs: ReadonlyMap<T, number>; readonly difference: number }[] = []

  get pairs(): number {
    return this.#differences.length
  }

  add({ one, other }: SplitPair<T>, scoreOfOne: number, scoreOfOther: number): void {
    const signs = new Map([...[...one].map((change) => [change, 1] as const), ...[...other].map((change) => [change, -1] as const)])
    this.#differences.push({ signs, difference: scoreOfOne - scoreOfOther })
  }

  /** 0 for a change that no pair told of. */
  fit(): ReadonlyMap<T, number> {
    const gains = new Map<T, number>(this.#differences.flatMap(({ signs }) => [...signs.keys()].map((change) => [change, 0] as const)))
    for (let round = 0; round < ROUNDS; round += 1) for (const change of gains.keys()) gains.set(change, this.#gainOf(change, gains))
    return gains
  }

  /** What the other changes leave unexplained. */
  #gainOf(change: T, gains: ReadonlyMap<T, number>): number {
    let [sum, pairs] = [0, 0]
    for (const { signs, difference } of this.#differences) {
      const sign = signs.get(change)
      if (sign === undefined) continue
      const explained = [...signs].reduce((total, [other, side]) => total + (other === change ? 0 : side * (gains.get(other) ?? 0)), 0)
      sum += sign * (difference - explained)
      pairs += 1
    }
    return sum / (pairs + CAUTION)
  }
}
