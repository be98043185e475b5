/** What the palette offers for a few letters. Pure. */
import type { ScenarioRow } from '@svc-ai/client'
import { narrowed, placeIn, plainHref, VIEWS, type Route, type ServicePlace } from '../route.ts'

export interface PaletteChoice {
  readonly title: string
  readonly hint: string
  readonly href: string
}

const SERVICE: readonly (readonly [place: ServicePlace, title: string, hint: string])[] = [
  ['home', 'Home', 'what needs you'],
  ['scenarios', 'Scenarios', 'all of them, and a new one'],
  ['access', 'Access', 'tokens and the audit'],
  ['configuration', 'Configuration', 'the settings in force'],
  ['storage', 'Storage', 'capacity and requests'],
]
const CHOICES_MAX = 12

/** The views of the scenario that is open come first, then those of the service, then the other scenarios; last a search of the traffic. */
export function choicesFor(words: string, route: Route, scenarios: readonly ScenarioRow[]): readonly PaletteChoice[] {
  const here = route.at === 'scenario' ? route.scenario : null
  const parts = words
    .toLowerCase()
    .split(/\s+/)
    .filter((part) => part !== '')
  const choices = [
    ...(here === null
      ? []
      : VIEWS.map((view) => ({ title: view.slice(0, 1).toUpperCase() + view.slice(1), hint: here, href: plainHref(placeIn(here, view)) }))),
    ...SERVICE.map(([at, title, hint]) => ({ title, hint, href: plainHref({ at }) })),
    ...scenarios
      .filter(({ scenario }) => scenario !== here)
      .map(({ scenario }) => ({ title: scenario, hint: 'scenario', href: plainHref(placeIn(scenario, 'releases')) })),
  ]
  const found = choices.filter(({ title, hint }) => parts.every((part) => `${title} ${hint}`.toLowerCase().includes(part)))
  return [...found.slice(0, CHOICES_MAX), ...searchFor(words.trim(), here)]
}

const searchFor = (words: string, here: string | null): readonly PaletteChoice[] =>
  here === null || words === ''
    ? []
    : [{ title: `Search the traffic for “${words}”`, hint: here, href: narrowed(plainHref(placeIn(here, 'traffic')), 'text', words) }]
