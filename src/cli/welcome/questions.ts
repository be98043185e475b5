/** What the agent of the first minutes is asked, and what is right. None of them is a task that changes are measured by. */
export const QUESTIONS: readonly (readonly [question: string, answer: string])[] = [
  ['Write 1400 as a Roman numeral.', 'MCD'],
  ['Write 1559 as a Roman numeral.', 'MDLIX'],
  ['Write 1714 as a Roman numeral.', 'MDCCXIV'],
]
