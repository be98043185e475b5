/** A history over a store in memory: rows as they were committed, followed as a scenario that is loaded does. */
import memoryStore from '../../plugins/stores/memory/index.ts'
import type { Commit, CommitPage, ScenarioStore } from '../../src/contract/index.ts'
import { readHistory } from '../../src/scenarios/read-history.ts'
import type { History } from '../../src/scenarios/history.ts'
import { ScenarioReleases } from '../../src/scenarios/releases.ts'

export interface KeptChain {
  readonly store: ScenarioStore
  readonly history: History
  readonly releases: ScenarioReleases
  wholeRows(page: CommitPage): Promise<readonly Commit[]>
}

/** The rows lie in the store without totals. `component`: whose tree clients pull. */
export async function keptChain(rows: readonly Commit[], component?: string): Promise<KeptChain> {
  const store = await storeOf(rows)
  const history = await readHistory(store, component)
  return { store, history, releases: new ScenarioReleases(history, () => store), wholeRows: (page) => store.commits(page) }
}

export async function storeOf(rows: readonly Commit[]): Promise<ScenarioStore> {
  const store = (await memoryStore.plugin.make({})).scenario('s')
  for (const row of rows) await store.commit(row)
  return store
}
