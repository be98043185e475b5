/** What a scenario's creation row says about it for good. */
import { unavailable, type Commit } from '../contract/index.ts'

export function createdWith({ state }: Pick<Commit, 'state'>, what: 'recipe' | 'folder'): string {
  const value = state[what]
  if (typeof value === 'string') return value
  throw unavailable('store_damaged', `the creation row of a scenario names no ${what}; run svc verify`)
}
