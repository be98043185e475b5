/**
 * Presentation: one step of a scenario as plain data: outcome, reason, evidence, scores, changes with diff lines. Used by the pages, the
 * console and the terminal.
 * Does not lay anything out, read stores, or import anything that a browser lacks.
 */
export * from './another-try.ts'
export * from './chain.ts'
export * from './changes.ts'
export * from './decision.ts'
export * from './diff.ts'
export * from './evidence.ts'
export * from './explained.ts'
export * from './json.ts'
export * from './limits.ts'
export * from './money.ts'
export * from './names.ts'
export * from './numbers.ts'
export * from './outcome.ts'
export * from './pareto.ts'
export * from './powers.ts'
export * from './read.ts'
export * from './replaces.ts'
export * from './roles.ts'
export * from './running.ts'
export * from './scores.ts'
export * from './step.ts'
export * from './tasks.ts'
export * from './week.ts'
export * from './why.ts'
