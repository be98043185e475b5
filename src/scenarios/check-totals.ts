/** Works the totals of every row out again and answers those that are not what the rows say. Holds one page of rows at a time. */
import { isDeepStrictEqual } from 'node:util'
import type { Commit, Damage, Store } from '../contract/index.ts'
import { wordsOf } from '../kit/index.ts'
import { COMMITS_PER_READ, History } from './history.ts'
import { withoutTotals, withTotals, type HistoryStore } from './read-history.ts'

export async function checkTotals(store: Store): Promise<readonly Damage[]> {
  const damages: Damage[] = []
  for (const scenario of await store.scenarios()) {
    const report = (problem: string): void => void damages.push({ scenario, agent_record_id: '', problem })
    // A row that others name and whose totals cannot be read ends the check of its scenario.
    await checkRows(store.scenario(scenario), report).catch((error: unknown) => report(wordsOf(error)))
  }
  return damages
}

/** Rows at the end without totals are no problem: they get theirs when the scenario is loaded. */
async function checkRows(store: HistoryStore, report: (problem: string) => void): Promise<void> {
  const history = new History(await treeOf(store))
  /** The newest step read, and the newest of those without totals. */
  let [read, bare] = [-1, -1]
  for (;;) {
    const page = await store.commits({ after: read, limit: COMMITS_PER_READ })
    if (page.length === 0) return
    for (const row of page) {
      read = row.step
      if (row.totals === undefined && row.step > 0) bare = row.step
      else if (bare >= 0) return report(`step ${bare} has no totals, and a later one has`)
      else if (!(await isRight(store, history, row))) report(`step ${row.step}: its totals are not what the rows say`)
    }
  }
}

async function isRight(store: HistoryStore, history: History, row: Commit): Promise<boolean> {
  const whole = await withTotals(store, history, withoutTotals(row))
  history.follow(whole)
  return row.step === 0 || isDeepStrictEqual(row.totals, whole.totals)
}

/** The component whose tree the totals were worked out for. */
async function treeOf(store: HistoryStore): Promise<string | undefined> {
  const [first] = await store.commits({ after: 0, limit: 1 })
  const component = first?.totals?.['component']
  return typeof component === 'string' ? component : undefined
}
