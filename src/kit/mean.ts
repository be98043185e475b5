/** The mean; 0 of none. A score may be any finite number, so that a sum of two can be none: only then each is divided by itself. */
export function meanOf(values: readonly number[]): number {
  if (values.length === 0) return 0
  const sum = values.reduce((all, value) => all + value, 0)
  return Number.isFinite(sum) ? sum / values.length : values.reduce((all, value) => all + value / values.length, 0)
}
