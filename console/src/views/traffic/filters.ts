/** What the traffic is narrowed to, as its address says it, and as the search takes it. An address may be hostile: what is no value counts as absent. */
import type { RecordSearchQuery } from '@svc-ai/client'
import type { SearchFilter } from '../../route.ts'

export type FilterValues = Readonly<Record<SearchFilter, string>>

export const STATUSES: readonly (readonly [value: NonNullable<RecordSearchQuery['status']>, words: string])[] = [
  ['complete', 'whole answer'],
  ['broken_off', 'broken off'],
]

export const PERIODS: readonly (readonly [value: string, words: string, seconds: number])[] = [
  ['1h', 'the last hour', 3600],
  ['24h', 'the last day', 86_400],
  ['7d', 'the last 7 days', 7 * 86_400],
  ['30d', 'the last 30 days', 30 * 86_400],
]

/** Null where nothing is asked that needs a search. */
export function searchOf(values: FilterValues, now: number): RecordSearchQuery | null {
  const [least, highest] = [numberOf(values.least), numberOf(values.highest)]
  const status = STATUSES.find(([value]) => value === values.status)?.[0]
  const seconds = PERIODS.find(([value]) => value === values.since)?.[2]
  const query: RecordSearchQuery = {
    ...(/[\p{L}\p{N}]/u.test(values.text) && { text: values.text }),
    ...(values.model !== '' && { model: values.model }),
    ...(/^[^:]+:./su.test(values.tag) && { tag: [values.tag] }),
    ...(status !== undefined && { status }),
    ...(least !== null && { min_score: least }),
    ...(highest !== null && { max_score: highest }),
    ...(seconds !== undefined && { since: Math.floor(now / 60) * 60 - seconds }),
    ...(values.release !== '' && { release_id: values.release }),
  }
  return Object.keys(query).length === 0 ? null : query
}

const numberOf = (text: string): number | null => (/^-?\d{1,12}(?:\.\d{1,12})?$/.test(text) ? Number(text) : null)
