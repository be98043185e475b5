/** Views that a person saved under a name: what the traffic was narrowed to, kept in this browser. */
import { SEARCH_FILTERS } from '../../route.ts'

export interface SavedView {
  readonly name: string
  /** As in the address. */
  readonly filters: string
}

const KEY = 'svc.views'
const VIEWS_MAX = 50
const CHARACTERS_MAX = 2000
export const NAME_CHARACTERS_MAX = 60
const SAVED: ReadonlySet<string> = new Set([...SEARCH_FILTERS, 'type', 'group'])

/** Anything may have been written there. */
export function savedViews(storage: Pick<Storage, 'getItem'>): readonly SavedView[] {
  try {
    const views: unknown = JSON.parse(storage.getItem(KEY) ?? '[]')
    return Array.isArray(views) ? views.filter(isView).slice(0, VIEWS_MAX) : []
  } catch {
    return []
  }
}

const isView = (value: unknown): value is SavedView =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  'filters' in value &&
  typeof value.name === 'string' &&
  typeof value.filters === 'string' &&
  value.name.trim() !== '' &&
  value.name.length <= NAME_CHARACTERS_MAX &&
  value.filters.length <= CHARACTERS_MAX

/** The newest first; one of the same name is replaced. False where the browser keeps nothing. */
export function saveView(storage: Pick<Storage, 'getItem' | 'setItem'>, view: SavedView): boolean {
  const others = savedViews(storage).filter(({ name }) => name !== view.name)
  return write(storage, [{ name: view.name, filters: keptFilters(view.filters) }, ...others])
}

export function removeView(storage: Pick<Storage, 'getItem' | 'setItem'>, name: string): boolean {
  return write(
    storage,
    savedViews(storage).filter((view) => view.name !== name),
  )
}

function write(storage: Pick<Storage, 'setItem'>, views: readonly SavedView[]): boolean {
  try {
    storage.setItem(KEY, JSON.stringify(views.slice(0, VIEWS_MAX)))
    return true
  } catch {
    return false
  }
}

/** What was open in the view is no part of it. */
export function keptFilters(filters: string): string {
  const kept = [...new URLSearchParams(filters)].filter(([name]) => SAVED.has(name))
  return new URLSearchParams(kept).toString()
}
