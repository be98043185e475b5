/** The console: sign-in, navigation, views. */
import type { ComponentChildren } from 'preact'
import { useErrorBoundary } from 'preact/hooks'
import type { ScenarioRow } from '@svc-ai/client'
import { useSignIn, SessionProvider } from './session.ts'
import { noticeOf } from './failure.ts'
import { usePolled, type Polled } from './poll.ts'
import { useRoute, type ServicePlace, type Route } from './route.ts'
import { Notice } from './ui/notice.tsx'
import { Shell } from './ui/shell.tsx'
import { Access } from './views/access/access.tsx'
import { Ask } from './views/ask/ask.tsx'
import { ConfigurationView } from './views/configuration/configuration.tsx'
import { Home } from './views/home/home.tsx'
import { Release } from './views/releases/release.tsx'
import { Releases } from './views/releases/releases.tsx'
import { Scenarios } from './views/scenarios/scenarios.tsx'
import { Settings } from './views/settings/settings.tsx'
import { SignIn } from './views/sign-in/sign-in.tsx'
import { Storage } from './views/storage/storage.tsx'
import { Tasks } from './views/tasks/tasks.tsx'
import { Traffic } from './views/traffic/traffic.tsx'
import { Training } from './views/training/training.tsx'

export function App() {
  const { entry, enter, session } = useSignIn()
  if (entry.at !== 'inside') return <SignIn entry={entry} onToken={enter} />
  return (
    <SessionProvider value={session}>
      <Inside />
    </SessionProvider>
  )
}

const SCENARIOS_SECONDS = 3

function Inside() {
  const route = useRoute()
  const scenarios = usePolled('scenarios', (service) => service().scenarios(), SCENARIOS_SECONDS)
  const place = route.at === 'scenario' ? `${route.scenario}/${route.view}` : route.at
  return (
    <Shell route={route} scenarios={scenarios}>
      <Guard key={place}>
        <View route={route} scenarios={scenarios} />
      </Guard>
    </Shell>
  )
}

/** An error in one view breaks that view alone. */
function Guard({ children }: { readonly children: ComponentChildren }) {
  const [error] = useErrorBoundary()
  if (error === undefined) return <>{children}</>
  return <Notice said={noticeOf('This view failed. Reload the page, or open another view.')} />
}

function ServiceView({ place, scenarios }: { readonly place: ServicePlace; readonly scenarios: Polled<readonly ScenarioRow[]> }) {
  switch (place) {
    case 'home':
      return <Home scenarios={scenarios} />
    case 'scenarios':
      return <Scenarios scenarios={scenarios} />
    case 'access':
      return <Access />
    case 'configuration':
      return <ConfigurationView />
    default:
      return <Storage />
  }
}

function View({ route, scenarios }: { readonly route: Route; readonly scenarios: Polled<readonly ScenarioRow[]> }) {
  if (route.at !== 'scenario') return <ServiceView place={route.at} scenarios={scenarios} />
  const { scenario, view, id } = route
  if (/\p{Cc}/u.test(scenario)) return <Notice said={noticeOf('No scenario has this name. Go back to the list.')} />
  switch (view) {
    case 'traffic':
      return <Traffic scenario={scenario} id={id} />
    case 'releases':
      return id === null ? <Releases scenario={scenario} /> : <Release scenario={scenario} id={id} />
    case 'ask':
      return <Ask scenario={scenario} id={id} />
    case 'tasks':
      return <Tasks scenario={scenario} id={id} />
    case 'settings':
      return <Settings scenario={scenario} scenarios={scenarios} />
    default:
      return <Training scenario={scenario} />
  }
}
