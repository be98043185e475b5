/**
 * The outcomes of a step: one table for the API, the pages, the console and the terminal. The keys are the API's words, which the interface
 * fixes, as it fixes the titles of the version page.
 */
export const STEP_OUTCOMES = {
  published: { word: 'published', title: 'Published' },
  pending: { word: 'held', title: 'Ready for review' },
  rejected: { word: 'rejected', title: 'Not selected' },
  skipped: { word: 'skipped', title: 'No changes' },
  failed: { word: 'failed', title: 'Failed' },
} as const

/** As the API and the rows have it. */
export type StepOutcome = keyof typeof STEP_OUTCOMES
/** As people read it. */
export type OutcomeWord = (typeof STEP_OUTCOMES)[StepOutcome]['word']
