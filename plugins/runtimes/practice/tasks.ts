/** The practice tasks: some of every family, the same ones in every process. They are the default evaluation tasks of a harness. */
import { FAMILIES, tasksOf, type PracticeTask } from './families/index.ts'

export type { PracticeTask } from './families/index.ts'

export const PRACTICE_TASKS: readonly PracticeTask[] = FAMILIES.flatMap(tasksOf)
