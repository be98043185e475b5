/** Finds the route of a request by its raw path: what is authorized is what runs, with no decoding or normalising in between but for the versions of one format. */
import { routedPath } from '../dialects/index.ts'
import type { HttpRoute } from './context.ts'

export interface RouteMatch {
  readonly route: HttpRoute
  readonly params: Readonly<Record<string, string>>
}

export type Lookup =
  | { readonly kind: 'found'; readonly match: RouteMatch }
  | { readonly kind: 'other_method'; readonly allow: string }
  | { readonly kind: 'none' }

const NO_PARAMS = {}
const NONE: Lookup = { kind: 'none' }

export class Router {
  readonly #fixed = new Map<string, RouteMatch[]>()
  readonly #open: { readonly segments: readonly string[]; readonly route: HttpRoute }[] = []

  constructor(routes: readonly HttpRoute[]) {
    for (const route of routes) {
      if (route.path.includes(':')) this.#open.push({ segments: route.path.split('/'), route })
      else this.#fixed.set(route.path, [...(this.#fixed.get(route.path) ?? []), { route, params: NO_PARAMS }])
    }
  }

  find(method: string, path: string): Lookup {
    const matches = this.#matches(path)
    const match = matches.find(({ route }) => route.method === method)
    if (match !== undefined) return { kind: 'found', match }
    return matches.length === 0 ? NONE : { kind: 'other_method', allow: matches.map(({ route }) => route.method).join(', ') }
  }

  /** The cure for a client with a wrong base URL; null when that is not the problem. */
  cureFor(path: string): string | null {
    const once = path.replace(/\/v1(?:\/v1)+\//, '/v1/')
    if (once !== path && this.#has(once)) return `its path has /v1 twice: take /v1 out of the client's base URL, so that it asks ${once}`
    const versioned = `/v1${path}`
    return this.#has(versioned) ? `its path lacks /v1: let the client's base URL end in /v1, so that it asks ${versioned}` : null
  }

  #has(path: string): boolean {
    return this.#matches(path).length > 0
  }

  #matches(path: string): readonly RouteMatch[] {
    return this.#fixed.get(path) ?? this.#matchOpen(routedPath(path))
  }

  #matchOpen(path: string): readonly RouteMatch[] {
    const given = path.split('/')
    return this.#open.flatMap(({ segments, route }) => {
      const params = segments.length === given.length ? paramsOf(segments, given) : null
      return params === null ? [] : [{ route, params }]
    })
  }
}

function paramsOf(segments: readonly string[], given: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {}
  for (const [index, segment] of segments.entries()) {
    const text = given[index] ?? ''
    if (!segment.startsWith(':')) {
      if (segment !== text) return null
      continue
    }
    // A parameter may end in a literal that begins with a colon, as in `:model:generateContent`.
    const mark = segment.indexOf(':', 1)
    const suffix = mark === -1 ? '' : segment.slice(mark)
    if (!text.endsWith(suffix)) return null
    const value = decode(text.slice(0, text.length - suffix.length))
    // Some programs read a dot segment as a step through the tree, others as a name. It is refused.
    if (value === null || value === '' || value === '.' || value === '..') return null
    params[segment.slice(1, mark === -1 ? undefined : mark)] = value
  }
  return params
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
