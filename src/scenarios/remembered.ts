/** What a loaded scenario keeps of its rows in memory: what it shows and decides by. What each consumed, and what a trainer left behind but for the latest, only the store has. */
import type { Commit } from '../contract/index.ts'

/** The rows so far, and those that come after them. */
export function remembered(known: readonly Commit[], more: readonly Commit[]): readonly Commit[] {
  const rows = [...known, ...more]
  const latest = new Map<string, Commit>()
  for (const row of rows) if (row.operation === 'train') latest.set(row.component ?? '', row)
  const kept = new Set([rows[0], ...latest.values()])
  return rows.map((row) => {
    const isWhole = row.consumed_ids.length > 0 || Object.keys(row.state).length > 0
    if (!isWhole) return row
    return { ...row, consumed_ids: [], state: kept.has(row) ? row.state : {} }
  })
}
