/** How much chance of a false publication each decision may spend, so that all of a scenario's life together stay within alpha. */

/** Over every whole number n from 2 on, the sum of 1 / (n ln² n); rounded up, so that no more is given out than there is. */
const SHARES_SUM = 2.10975

/** The level of the decision after so many, of which so many published. Publications that held earn some of it back. */
export function levelOf(alpha: number, { decided, selected }: { readonly decided: number; readonly selected: number }): number {
  return alpha * shareOf(decided + 1) * (selected + 1)
}

/** Falls so slowly that the hundredth candidate still has a chance. */
export function shareOf(decision: number): number {
  const n = decision + 1
  return 1 / (SHARES_SUM * n * Math.log(n) ** 2)
}
