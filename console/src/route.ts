/**
 * Where in the console a person is, and how they narrowed what they see: the part of the address after `#`, so that every view can be linked
 * to, loaded again and gone back to. It may be hostile: what is no place or no value of a filter counts as absent.
 */
import { useEffect, useState } from 'preact/hooks'

export const VIEWS = ['traffic', 'releases', 'ask', 'training', 'tasks', 'settings'] as const
export type View = (typeof VIEWS)[number]

/** Places of the whole service. */
const PLACES = ['home', 'scenarios', 'access', 'configuration', 'storage'] as const
export type ServicePlace = (typeof PLACES)[number]

export type Route =
  | { readonly at: ServicePlace }
  /** `id` is a record in traffic, a step in releases, a request in ask, a task in tasks. */
  | { readonly at: 'scenario'; readonly scenario: string; readonly view: View; readonly id: string | null }

/** In a scenario; a null id opens the view itself. */
export const placeIn = (scenario: string, view: View, id: string | null = null): Route => ({ at: 'scenario', scenario, view, id })

/** What the traffic is searched by. */
export const SEARCH_FILTERS = ['text', 'model', 'tag', 'status', 'least', 'highest', 'since', 'release'] as const
export type SearchFilter = (typeof SEARCH_FILTERS)[number]

/** Those of a whole view stay while one thing after the other is opened in it; the others belong to what is open. */
const OF_VIEW: ReadonlySet<string> = new Set(['name', 'type', 'steps', 'most', 'group', ...SEARCH_FILTERS])
export type FilterName = SearchFilter | 'group' | 'name' | 'type' | 'steps' | 'most' | 'at' | 'against' | 'find' | 'file' | 'task'
const VALUE_CHARACTERS_MAX = 500

export function routeOf(hash: string): Route {
  const [first = '', scenario = '', view = '', id = ''] = halvesOf(hash).path.split('/').map(decode)
  if (first !== 's' || scenario === '') return { at: PLACES.find((place) => place === first) ?? 'home' }
  return { at: 'scenario', scenario, view: VIEWS.find((each) => each === view) ?? 'traffic', id: id === '' ? null : id }
}

/** A link within the view that is shown keeps how it is narrowed. */
export const hrefOf = (route: Route): string => linkFrom(location.hash, route)

export function linkFrom(hash: string, route: Route): string {
  const [here, there] = [routeOf(hash), plainHref(route)]
  const isOpen = plainHref(here) === there
  const kept = [...halvesOf(hash).filters].filter(([name]) => isOpen || (isSameView(here, route) && OF_VIEW.has(name)))
  return withFilters(there, new URLSearchParams(kept))
}

/** To the view as it is at first, not narrowed by anything. */
export function plainHref(route: Route): string {
  if (route.at !== 'scenario') return route.at === 'home' ? '#/' : `#/${route.at}`
  const parts = ['s', route.scenario, route.view, ...(route.id === null ? [] : [route.id])]
  return `#/${parts.map(encodeURIComponent).join('/')}`
}

const isSameView = (one: Route, other: Route): boolean =>
  one.at === 'scenario' && other.at === 'scenario' ? one.scenario === other.scenario && one.view === other.view : one.at === other.at

const withFilters = (path: string, filters: URLSearchParams): string => (filters.size === 0 ? path : `${path}?${filters.toString()}`)

/** A `?` within a name is encoded, so the first one ends the path. */
function halvesOf(hash: string): { readonly path: string; readonly filters: URLSearchParams } {
  const [path = '', ...rest] = hash.replace(/^#?\/?/, '').split('?')
  return { path, filters: new URLSearchParams(rest.join('?')) }
}

export function go(route: Route): void {
  location.hash = hrefOf(route)
}

export const useRoute = (): Route => routeOf(useHash())

function useHash(): string {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = (): void => setHash(location.hash)
    addEventListener('hashchange', follow)
    // It may have changed between the first drawing and now.
    follow()
    return () => removeEventListener('hashchange', follow)
  }, [])
  return hash
}

export interface Filter {
  /** Empty: not narrowed. */
  readonly value: string
  /** A choice, which can be gone back from. */
  readonly choose: (value: string) => void
  /** A text that grows letter by letter: only its last state is gone back to. */
  readonly type: (value: string) => void
}

export function useFilter(name: FilterName): Filter {
  return {
    value: filterIn(useHash(), name),
    choose: (value) => {
      location.hash = narrowed(location.hash, name, value)
    },
    type: (value) => {
      history.replaceState(history.state, '', narrowed(location.hash, name, value))
      // Replacing an address fires no event.
      dispatchEvent(new HashChangeEvent('hashchange'))
    },
  }
}

/** Several at once. */
export function useFilters<Name extends FilterName>(
  names: readonly Name[],
): {
  readonly values: Readonly<Record<Name, string>>
  readonly choose: (values: Readonly<Partial<Record<FilterName, string>>>) => void
} {
  const hash = useHash()
  const found = names.map((name) => [name, filterIn(hash, name)] as const)
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one entry for each of the names
    values: Object.fromEntries(found) as Record<Name, string>,
    choose: (values) => {
      location.hash = changedFilters(location.hash, values)
    },
  }
}

export function changedFilters(hash: string, values: Readonly<Partial<Record<FilterName, string>>>): string {
  const { path, filters } = halvesOf(hash)
  for (const [name, value] of Object.entries(values)) {
    if (value === '') filters.delete(name)
    else filters.set(name, value)
  }
  return withFilters(`#/${path}`, filters)
}

/** The filters of an address, as it has them. */
export const filtersOf = (hash: string): string => halvesOf(hash).filters.toString()

export const filterIn = (hash: string, name: FilterName): string => (halvesOf(hash).filters.get(name) ?? '').slice(0, VALUE_CHARACTERS_MAX)

export const narrowed = (hash: string, name: FilterName, value: string): string => changedFilters(hash, { [name]: value })

/** A number of rows to show; anything but a whole number falls back. */
export const countOf = (value: string, least: number): number => (/^\d{1,6}$/.test(value) ? Math.max(least, Number(value)) : least)

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
