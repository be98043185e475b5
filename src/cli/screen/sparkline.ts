const SPARKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** One mark per number, from the lowest to the highest of them. */
export function sparkline(numbers: readonly number[]): string {
  const low = Math.min(...numbers)
  const span = Math.max(...numbers) - low
  return numbers.map((number) => SPARKS[span === 0 ? 3 : Math.round(((number - low) / span) * (SPARKS.length - 1))]).join('')
}
