/** The outcomes of a step: one table for the API, the pages, the console and the terminal. */

/** The words of the API and of the rows, which the interface fixes. */
export const STEP_RESULTS = ['published', 'pending', 'rejected', 'skipped', 'failed'] as const
export type StepOutcome = (typeof STEP_RESULTS)[number]

/** For each, the word that people read, and the title of its version page, which the interface fixes too. */
export const STEP_OUTCOMES = {
  published: { word: 'published', title: 'Published' },
  pending: { word: 'held', title: 'Ready for review' },
  rejected: { word: 'rejected', title: 'Not selected' },
  skipped: { word: 'skipped', title: 'No changes' },
  failed: { word: 'failed', title: 'No changes' },
} as const satisfies Record<StepOutcome, object>

export type OutcomeWord = (typeof STEP_OUTCOMES)[StepOutcome]['word']
export type OutcomeTitle = (typeof STEP_OUTCOMES)[StepOutcome]['title'] | `Promoted at step ${number}`
