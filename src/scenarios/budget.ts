/** Says of a row whether it used up what automatic steps may take. Derived from the totals beside the rows. */
import type { Commit } from '../contract/index.ts'
import { exhausted, NO_STEPS, type TrainerTally } from '../training/index.ts'
import { createdWith } from './files.ts'
import { budgetsWith } from './own-evolution.ts'
import type { Services } from './services.ts'
import { totalsOf } from './totals.ts'

/** Why no automatic step starts any more; null where one may, and where the row before had used it up already. */
export async function budgetEnded(
  { store, recipes, files }: Pick<Services, 'store' | 'recipes' | 'files'>,
  name: string,
  row: Commit,
): Promise<string | null> {
  if (row.operation !== 'train') return null
  const stored = store.scenario(name)
  const [created] = await stored.commits({ after: -1, limit: 1 })
  const configured = created === undefined ? undefined : recipes.get(createdWith(created, 'recipe'))?.budgets
  if (created === undefined || configured === undefined) return null
  const budgets = budgetsWith(configured, await files.readEvolution(created))
  if (budgets.maxSteps === 0 && budgets.maxFailureStreak === 0) return null
  const [before] = await stored.commits({ before: row.step, limit: 1 })
  const was = before === undefined ? null : exhausted(tallyAt(before, row), budgets)
  return was === null ? exhausted(tallyAt(row, row), budgets) : null
}

function tallyAt(row: Commit, { component }: Commit): TrainerTally {
  const tree = row.totals?.['component']
  return totalsOf(row, typeof tree === 'string' ? tree : undefined)?.trained.get(component ?? '') ?? NO_STEPS
}
