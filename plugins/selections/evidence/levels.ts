/** Alpha spending: the level of each decision, so that all decisions of a scenario together stay within alpha. */

/** The sum of 1 / (n ln² n) over n ≥ 2, rounded up. */
const SHARES_SUM = 2.10975

/** The level of the next decision. Earlier selections earn some of it back. */
export function levelOf(alpha: number, { decided, selected }: { readonly decided: number; readonly selected: number }): number {
  return alpha * shareOf(decided + 1) * (selected + 1)
}

/** Falls slowly, so that the hundredth candidate still has a chance. */
export function shareOf(decision: number): number {
  const n = decision + 1
  return 1 / (SHARES_SUM * n * Math.log(n) ** 2)
}
