/** Every route: its access, its body limit and its handler. This file holds nothing else. */
import type { HttpRoute } from './context.ts'
import { consoleRoutes } from './handlers/console.ts'
import { accessRoutes } from './routes/access.ts'
import { fleetRoutes } from './routes/fleet.ts'
import { harnessRoutes } from './routes/harness.ts'
import { inferenceRoutes } from './routes/inference.ts'
import { recordRoutes } from './routes/records.ts'
import { releaseRoutes } from './routes/releases.ts'
import { scenarioRoutes } from './routes/scenarios.ts'
import { signInRoutes } from './routes/sign-in.ts'
import { healthRoute, serviceRoutes } from './routes/service.ts'

export const routes: readonly HttpRoute[] = [
  healthRoute,
  ...inferenceRoutes,
  ...recordRoutes,
  ...scenarioRoutes,
  ...releaseRoutes,
  ...harnessRoutes,
  ...fleetRoutes,
  ...accessRoutes,
  ...signInRoutes,
  ...consoleRoutes,
  ...serviceRoutes(() => routes),
]
