/** Query parameters of the history routes. */
import { invalid, PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX } from '../contract/index.ts'

export function wholeNumber(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name)
  if (text === null) return fallback
  const value = Number(text)
  if (!/^\d{1,15}$/.test(text)) throw invalid('invalid_query', `${name}: must be a whole number from 0`)
  return value
}

export function pageLimit(query: URLSearchParams): number {
  const limit = wholeNumber(query, 'limit', PAGE_ROWS_DEFAULT)
  if (limit < 1 || limit > PAGE_ROWS_MAX) throw invalid('invalid_query', `limit: must be from 1 to ${PAGE_ROWS_MAX}`)
  return limit
}

/** One row more than asked tells whether there is a next page. */
export function cutPage<T>(rows: readonly T[], limit: number, positionOf: (row: T) => number): { rows: readonly T[]; next: number | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, next: rows.length > limit && last !== undefined ? positionOf(last) : null }
}
