/** Composes a listener thread: what main is to the service. */
import { builtins } from '../plugins/index.ts'
import { configuredTraffic, loaderOf, openRuntime, openTracing } from './compose/index.ts'
import { joinStore, runListener } from './listeners/index.ts'

await runListener(async ({ loaded, store }, log) => {
  const runtime = await openRuntime(loaded, loaderOf(loaded, builtins))
  // No evaluation is answered here.
  const configured = configuredTraffic(loaded, '')
  return { runtime, configured, traces: await openTracing(loaded, log), ...joinStore(store) }
})
