/** Composes a listener thread: what main is to the service. */
import { builtins } from '../plugins/index.ts'
import { configuredTraffic, loaderOf, openPrices, openRecorder, openRuntime, openTracing, reconfigureThread } from './compose/index.ts'
import { runListener } from './listeners/index.ts'

await runListener(async ({ loaded, store: port, limits, group }, log) => {
  const load = loaderOf(loaded, builtins)
  const { record_backend } = loaded.config.storage
  const store = await (await load('store', record_backend)).join?.(port)
  if (store === undefined) throw new Error(`the store ${record_backend} is shared, and cannot be joined: its plug-in has no join`)
  // No evaluation is answered here.
  const configured = configuredTraffic(loaded, { token: '' }, limits, store.shares)
  const prices = openPrices(loaded)
  const [runtime, traces] = [await openRuntime(loaded, load, group), await openTracing(loaded, prices, log)]
  const recorder = await openRecorder(loaded, load)
  const parts = { runtime, recorder, prices, group }
  return {
    store,
    configured,
    recorder,
    runtime,
    traces,
    reconfigure: (services, ...to) => reconfigureThread({ services, ...parts }, ...to, store.shares),
  }
})
