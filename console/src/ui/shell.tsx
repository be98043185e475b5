/** What stands around every view: where one is, where one can go, and whether the service is there. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ScenarioRow } from '@svc-ai/client'
import icon from '../icon.svg'
import type { Polled } from '../poll.ts'
import { go, plainHref, VIEWS, type Route, type View, placeIn } from '../route.ts'
import { useSession } from '../session.ts'
import { Button } from './button.tsx'
import { useKeys } from './keys.ts'
import { useModal } from './modal.ts'
import { Palette, usePalette } from './palette.tsx'
import { Text } from './text.tsx'
import { visible } from './visible.ts'
import './shell.css'

interface ShellProps {
  readonly route: Route
  readonly scenarios: Polled<readonly ScenarioRow[]>
  readonly children: ComponentChildren
}

const titleOf = (place: string): string => place.slice(0, 1).toUpperCase() + place.slice(1)

export function Shell({ route, scenarios, children }: ShellProps) {
  const [isHelping, setHelping] = useState(false)
  const [isGoing, setGoing] = usePalette()
  const main = useRef<HTMLElement>(null)
  const place = route.at === 'scenario' ? `${route.scenario}/${route.view}` : route.at
  useTitle(route)
  useFocus(main, place)
  useWays(route, scenarios.value, () => setHelping(true))
  return (
    <>
      <Button class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </Button>
      <Header key={place} route={route} scenarios={scenarios} onHelp={() => setHelping(true)} />
      <main ref={main} tabIndex={-1}>
        {children}
      </main>
      {isGoing && <Palette route={route} scenarios={scenarios.value ?? []} onClose={() => setGoing(false)} />}
      {isHelping && <KeyHelp onClose={() => setHelping(false)} />}
    </>
  )
}

function useTitle(route: Route): void {
  const title = route.at === 'scenario' ? `${titleOf(route.view)} · ${visible(route.scenario)}` : titleOf(route.at)
  useEffect(() => {
    document.title = `${title} · svc console`
  }, [title])
}

/** Moves the focus of screen readers to the new view, as a page load would. */
function useFocus(main: { readonly current: HTMLElement | null }, place: string): void {
  const before = useRef(place)
  useEffect(() => {
    if (before.current !== place) main.current?.focus({ preventScroll: true })
    before.current = place
  }, [place])
}

/** Keys that work everywhere. Those of a scenario go to the one last looked at, else to the first. */
function useWays(route: Route, rows: readonly ScenarioRow[] | null, help: () => void): void {
  const last = useRef<string | null>(null)
  if (route.at === 'scenario') last.current = route.scenario
  const to = (view: View) => (): void => {
    const scenario = last.current ?? rows?.[0]?.scenario
    if (scenario !== undefined) go(placeIn(scenario, view))
  }
  useKeys({
    '?': help,
    '/': () => document.querySelector<HTMLElement>('[data-filter]')?.focus(),
    'g h': () => go({ at: 'home' }),
    'g s': () => go({ at: 'scenarios' }),
    'g t': to('traffic'),
    'g r': to('releases'),
    'g a': to('ask'),
    'g n': to('training'),
    'g k': to('tasks'),
    'g e': to('settings'),
    'g x': () => go({ at: 'access' }),
    'g c': () => go({ at: 'configuration' }),
    'g o': () => go({ at: 'storage' }),
    Escape: () => route.at === 'scenario' && route.id !== null && go({ ...route, id: null }),
  })
}

const SERVICE_WAYS = ['storage', 'access', 'configuration'] as const

interface HeaderProps extends Omit<ShellProps, 'children'> {
  readonly onHelp: () => void
}

function Header({ route, scenarios, onHelp }: HeaderProps) {
  const session = useSession()
  const [isOpen, setOpen] = useState(false)
  return (
    <header class={isOpen ? 'shell is-open' : 'shell'}>
      <a class="brand" href={plainHref({ at: 'home' })} aria-label="svc console, home">
        <img src={icon} alt="" width="24" height="24" />
        <b>svc</b>
      </a>
      <Switcher route={route} scenarios={scenarios.value ?? []} />
      <button type="button" class="button quiet menu" aria-expanded={isOpen} aria-controls="ways" onClick={() => setOpen(!isOpen)}>
        Menu
      </button>
      <nav id="ways" aria-label="Views">
        <Way name="home" to={{ at: 'home' }} isHere={route.at === 'home'} />
        <Way name="scenarios" to={{ at: 'scenarios' }} isHere={route.at === 'scenarios'} />
        {route.at === 'scenario' &&
          VIEWS.map((view) => <Way key={view} name={view} to={{ ...route, view, id: null }} isHere={route.view === view} />)}
        {SERVICE_WAYS.map((place) => (
          <Way key={place} name={place} to={{ at: place }} isHere={route.at === place} />
        ))}
      </nav>
      <span class="spring" />
      <span class={scenarios.said === null ? 'link-mark good' : 'link-mark bad'} role="status">
        {scenarios.said === null ? 'Connected' : 'No answer'}
      </span>
      <Button class="quiet keys" onClick={onHelp}>
        Keys <kbd>?</kbd>
      </Button>
      {session.person !== null && (
        <span class="person" title="Signed in">
          <Text value={session.person} />
        </span>
      )}
      {(session.token !== null || session.person !== null) && (
        <Button class="quiet" onClick={() => void session.signOut()}>
          Sign out
        </Button>
      )}
    </header>
  )
}

function Way({ name, to, isHere }: { readonly name: string; readonly to: Route; readonly isHere: boolean }) {
  return (
    <a href={plainHref(to)} {...(isHere && { 'aria-current': 'page' as const })}>
      {titleOf(name)}
    </a>
  )
}

/** One that was deleted, or that the list does not know yet, is still where one is. */
function Switcher({ route, scenarios }: { readonly route: Route; readonly scenarios: readonly ScenarioRow[] }) {
  const here = route.at === 'scenario' ? route.scenario : ''
  const names = scenarios.map(({ scenario }) => scenario)
  const change = (scenario: string): void =>
    scenario === ''
      ? go({ at: 'scenarios' })
      : go({ at: 'scenario', scenario, view: route.at === 'scenario' ? route.view : 'traffic', id: null })
  return (
    <select class="switcher" aria-label="Scenario" value={here} onChange={(event) => change(event.currentTarget.value)}>
      <option value="">All scenarios</option>
      {(here === '' || names.includes(here) ? names : [here, ...names]).map((name) => (
        <option key={name} value={name}>
          {visible(name)}
        </option>
      ))}
    </select>
  )
}

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['g', 'h'], 'Home'],
  [['g', 's'], 'All scenarios'],
  [['g', 't'], 'Traffic'],
  [['g', 'r'], 'Releases'],
  [['g', 'a'], 'Ask for a change'],
  [['g', 'n'], 'Training'],
  [['g', 'k'], 'Tasks'],
  [['g', 'e'], 'Settings of the scenario'],
  [['g', 'x'], 'Access: tokens and the audit'],
  [['g', 'c'], 'Configuration'],
  [['g', 'o'], 'Storage'],
  [['/'], 'Filter, or go to a record'],
  [['j', 'k'], 'Down and up in a list; the arrows too'],
  [['Enter'], 'Open'],
  [['Esc'], 'Back, or close'],
  [['p'], 'Pause the traffic'],
  [['Ctrl', 'K'], 'Go anywhere, by a few letters'],
  [['?'], 'These keys'],
]

function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const { close, props } = useModal(onClose)
  return (
    <dialog {...props} class="key-help" aria-labelledby="key-help-title">
      <div class="row">
        <h2 id="key-help-title">Keys</h2>
        <span class="spring" />
        <Button onClick={close}>Close</Button>
      </div>
      <dl>
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  )
}
