/** Where in the console a person is: the part of the address after `#`, so that every view can be linked to and gone back to. */
import { useEffect, useState } from 'preact/hooks'

export const VIEWS = ['traffic', 'releases', 'ask', 'training'] as const
export type View = (typeof VIEWS)[number]

export type Route =
  | { readonly at: 'scenarios' }
  | { readonly at: 'storage' }
  /** `id` is a record in traffic, a step in releases, a request in ask. */
  | { readonly at: 'scenario'; readonly scenario: string; readonly view: View; readonly id: string | null }

function routeOf(hash: string): Route {
  const [first = '', scenario = '', view = '', id = ''] = hash
    .replace(/^#?\/?/, '')
    .split('/')
    .map(decode)
  if (first === 'storage') return { at: 'storage' }
  if (first !== 's' || scenario === '') return { at: 'scenarios' }
  return { at: 'scenario', scenario, view: VIEWS.find((each) => each === view) ?? 'traffic', id: id === '' ? null : id }
}

export function hrefOf(route: Route): string {
  if (route.at !== 'scenario') return route.at === 'storage' ? '#/storage' : '#/'
  const parts = ['s', route.scenario, route.view, ...(route.id === null ? [] : [route.id])]
  return `#/${parts.map(encodeURIComponent).join('/')}`
}

export function go(route: Route): void {
  location.hash = hrefOf(route)
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = (): void => setHash(location.hash)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return routeOf(hash)
}

/** What is no encoding of anything is taken as it stands. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
